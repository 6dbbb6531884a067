import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Browsers that get notifications, and the key by which they know this service. Older servers send them nothing. */
export const migration: Migration = {
  id: 10,
  name: "browsers",
  compatibility: "compatible",
  sql: `
CREATE TABLE push_key (
  name text COLLATE "C" PRIMARY KEY,
  public_key text COLLATE "C" NOT NULL,
  ciphertext text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE TABLE push_subscription (
  id text COLLATE "C" PRIMARY KEY,
  operator text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  service text COLLATE "C" NOT NULL,
  ciphertext text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  session text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint,
  taken_at bigint,
  tested_at bigint,
  shown_at bigint,
  last_error text COLLATE "C"
);
CREATE INDEX push_subscription_by_creation ON push_subscription (created_at, id);
CREATE INDEX push_subscription_by_operator ON push_subscription (operator, created_at, id);
CREATE INDEX push_subscription_by_expiry ON push_subscription (expires_at) WHERE expires_at IS NOT NULL;
`,
}
