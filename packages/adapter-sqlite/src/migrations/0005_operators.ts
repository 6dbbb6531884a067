import type { Migration } from "@tocsin/core/ports/Migration"

/** Operators have names, roles and tokens of their own. */
export const migration: Migration = {
  id: 5,
  name: "operators",
  compatibility: "compatible",
  sql: `
CREATE TABLE operator (
  name TEXT NOT NULL PRIMARY KEY,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  former_token_hash TEXT,
  former_valid_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX operator_by_token ON operator (token_hash);
CREATE INDEX operator_by_former_token ON operator (former_token_hash) WHERE former_token_hash IS NOT NULL;
`,
}
