import type { Migration } from "@tocsin/core/ports/Migration"

/** Each process of the service reports itself. */
export const migration: Migration = {
  id: 11,
  name: "replicas",
  compatibility: "compatible",
  sql: `
CREATE TABLE replica (
  id text COLLATE "C" PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  policy_hash text COLLATE "C" NOT NULL,
  receivers json NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  ended_at bigint
);
`,
}
