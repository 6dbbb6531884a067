import type { Migration } from "@tocsin/core/ports/Migration"

/** Silences, and when the last outage of the service began. */
export const migration: Migration = {
  id: 10,
  name: "silences",
  compatibility: "compatible",
  sql: `
CREATE TABLE silence (
  id text COLLATE "C" PRIMARY KEY,
  matchers json NOT NULL,
  starts_at bigint NOT NULL,
  ends_at bigint NOT NULL,
  comment text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX silence_by_created ON silence (created_at, id);
CREATE INDEX silence_by_end ON silence (ends_at);
CREATE INDEX incident_by_key ON incident (incident_key, kind, opened_at);
ALTER TABLE mark ADD COLUMN outage_began_at bigint;
`,
}
