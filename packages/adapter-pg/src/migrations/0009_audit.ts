import type { Migration } from "@tocsin/core/ports/Migration"

/** Each change that someone makes is recorded. */
export const migration: Migration = {
  id: 9,
  name: "audit",
  compatibility: "compatible",
  sql: `
CREATE TABLE audit (
  id text COLLATE "C" PRIMARY KEY,
  recorded_at bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  via text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subjects json NOT NULL,
  parameters json,
  request_id text COLLATE "C"
);
CREATE INDEX audit_by_time ON audit (recorded_at, id);
CREATE INDEX audit_by_actor ON audit (actor, recorded_at, id);
CREATE INDEX audit_by_action ON audit (action, recorded_at, id);
CREATE INDEX audit_by_actor_and_action ON audit (actor, action, recorded_at, id);
CREATE TABLE audit_subject (
  subject_id text COLLATE "C" NOT NULL,
  audit_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (subject_id, audit_id)
);
CREATE INDEX audit_subject_by_row ON audit_subject (audit_id);
`,
}
