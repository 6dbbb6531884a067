import type { Migration } from "@tocsin/core/ports/Migration"

/** Operators have names, roles and tokens of their own. */
export const migration: Migration = {
  id: 4,
  name: "operators",
  compatibility: "compatible",
  sql: `
CREATE TABLE operator (
  name text COLLATE "C" PRIMARY KEY,
  role text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  former_token_hash text COLLATE "C",
  former_valid_until bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  expires_at bigint,
  last_used_at bigint
);
CREATE UNIQUE INDEX operator_by_token ON operator (token_hash);
CREATE INDEX operator_by_former_token ON operator (former_token_hash) WHERE former_token_hash IS NOT NULL;
`,
}
