import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Invitations of operators. Older servers know none, and refuse the sessions that they began. */
export const migration: Migration = {
  id: 18,
  name: "invitations",
  compatibility: "compatible",
  sql: `
CREATE TABLE invitation (
  id text COLLATE "C" PRIMARY KEY,
  operator text COLLATE "C" NOT NULL,
  operator_since bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint
);
CREATE INDEX invitation_by_operator ON invitation (operator);
CREATE INDEX invitation_by_end ON invitation (expires_at);
`,
}
