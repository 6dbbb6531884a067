import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Browsers that get notifications, and the key by which they know this service. Older servers send them nothing. */
export const migration: Migration = {
  id: 10,
  name: "browsers",
  compatibility: "compatible",
  sql: `
CREATE TABLE push_key (
  name TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE push_subscription (
  id TEXT PRIMARY KEY,
  operator TEXT NOT NULL,
  name TEXT NOT NULL,
  service TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  key_id TEXT NOT NULL,
  session TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  taken_at INTEGER,
  tested_at INTEGER,
  shown_at INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX push_subscription_by_creation ON push_subscription (created_at, id);
CREATE INDEX push_subscription_by_operator ON push_subscription (operator, created_at, id);
CREATE INDEX push_subscription_by_expiry ON push_subscription (expires_at) WHERE expires_at IS NOT NULL;
`,
}
