import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Retention finds old history by its age and sets aside the newest row of a check when it reads it.
 * Before, each changed result updated the row before it. The values of the column stay right: the
 * newest rows are set aside.
 */
export const migration: Migration = {
  id: 3,
  name: "kept_history",
  compatibility: "breaking",
  sql: `
DROP INDEX check_event_replaced;
ALTER TABLE check_event RENAME COLUMN is_latest TO is_kept;
CREATE INDEX check_event_by_age ON check_event (received_at) WHERE is_kept = 0;
CREATE INDEX check_event_kept ON check_event (registration_id, check_id) WHERE is_kept = 1;
`,
}
