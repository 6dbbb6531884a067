import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Notifications have a receiver, which may be one of several of a kind, a cause, and the moment of
 * their first attempt. Until now a receiver was a notifier, and a replay showed in `counts_from`.
 *
 * Triggers fill the columns for replicas of the previous release during an upgrade.
 */
export const migration: Migration = {
  id: 3,
  name: "receivers",
  compatibility: "compatible",
  sql: `
ALTER TABLE outbox
  ADD COLUMN receiver text COLLATE "C",
  ADD COLUMN cause text COLLATE "C",
  ADD COLUMN first_attempted_at bigint;

UPDATE outbox SET
  receiver = notifier,
  first_attempted_at = CASE WHEN attempts > 0 OR counts_from > created_at THEN created_at END;

ALTER TABLE outbox ALTER COLUMN receiver SET NOT NULL;

CREATE FUNCTION complete_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.receiver := coalesce(NEW.receiver, NEW.notifier);
  IF NEW.attempts > 0 THEN
    NEW.first_attempted_at := coalesce(NEW.first_attempted_at, NEW.updated_at);
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER outbox_complete BEFORE INSERT OR UPDATE ON outbox FOR EACH ROW
  WHEN (NEW.receiver IS NULL OR (NEW.attempts > 0 AND NEW.first_attempted_at IS NULL))
  EXECUTE FUNCTION complete_outbox();

DROP INDEX outbox_due;
DROP INDEX outbox_of_incident;
CREATE INDEX outbox_due ON outbox (receiver, next_attempt_at) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_of_incident ON outbox (incident_id, receiver, incident_seq);
`,
}
