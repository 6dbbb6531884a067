import type { Migration } from "@tocsin/core/ports/Migration"

/** Each process of the service reports itself. */
export const migration: Migration = {
  id: 12,
  name: "replicas",
  compatibility: "compatible",
  sql: `
CREATE TABLE replica (
  id TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  policy_hash TEXT NOT NULL,
  receivers TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
`,
}
