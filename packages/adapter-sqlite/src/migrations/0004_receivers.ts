import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Notifications have a receiver, which may be one of several of a kind, a cause, and the moment of
 * their first attempt. Until now a receiver was a notifier, and a replay showed in `counts_from`.
 */
export const migration: Migration = {
  id: 4,
  name: "receivers",
  compatibility: "breaking",
  sql: `
ALTER TABLE outbox ADD COLUMN receiver TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN cause TEXT;
ALTER TABLE outbox ADD COLUMN first_attempted_at INTEGER;
UPDATE outbox SET
  receiver = notifier,
  first_attempted_at = CASE WHEN attempts > 0 OR counts_from > created_at THEN created_at END;
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (receiver, next_attempt_at) WHERE state IN ('pending', 'retry');
`,
}
