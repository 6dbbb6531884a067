import type { Migration } from "@tocsin/core/ports/Migration"

/** Silences, and when the last outage of the service began. */
export const migration: Migration = {
  id: 11,
  name: "silences",
  compatibility: "breaking",
  sql: `
CREATE TABLE silence (
  id TEXT NOT NULL PRIMARY KEY,
  matchers TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  comment TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX silence_by_created ON silence (created_at, id);
CREATE INDEX silence_by_end ON silence (ends_at);
CREATE INDEX incident_by_key ON incident (incident_key, kind, opened_at);
ALTER TABLE mark ADD COLUMN outage_began_at INTEGER;
`,
}
