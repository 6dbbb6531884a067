import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Invitations of operators. Older servers know none, and refuse the sessions that they began. */
export const migration: Migration = {
  id: 18,
  name: "invitations",
  compatibility: "compatible",
  sql: `
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  operator TEXT NOT NULL,
  operator_since INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_by_operator ON invitation (operator);
CREATE INDEX invitation_by_end ON invitation (expires_at);
`,
}
