import type { Migration } from "@tocsin/core/ports/Migration"

/** Each change that someone makes is recorded. */
export const migration: Migration = {
  id: 10,
  name: "audit",
  compatibility: "compatible",
  sql: `
CREATE TABLE audit (
  id TEXT NOT NULL PRIMARY KEY,
  recorded_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  action TEXT NOT NULL,
  subjects TEXT NOT NULL,
  parameters TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX audit_by_time ON audit (recorded_at, id);
CREATE INDEX audit_by_actor ON audit (actor, recorded_at, id);
CREATE INDEX audit_by_action ON audit (action, recorded_at, id);
CREATE INDEX audit_by_actor_and_action ON audit (actor, action, recorded_at, id);
CREATE TABLE audit_subject (
  subject_id TEXT NOT NULL,
  audit_id TEXT NOT NULL,
  PRIMARY KEY (subject_id, audit_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_subject_by_row ON audit_subject (audit_id);
`,
}
