import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Retention finds old history by its age and sets the newest row of a check aside when it meets it. Until now each row was
 * noted as replaced when the next one came: an update for each changed result. What the column holds stays right: the
 * newest rows are all set aside.
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
