const SHADOWED = "attempts > 0 AND last_error IS NULL"

/**
 * Adds why items were discarded, which earlier versions left to be concluded from the times of rows. A discarded
 * item changes no more, so its last change is its end. `text` is the type of the column.
 */
export const discardReasons = (text: string): string => `
ALTER TABLE outbox ADD COLUMN discarded_because ${text};
UPDATE outbox SET discarded_because = CASE
  WHEN ${SHADOWED} THEN 'shadowed'
  WHEN event_type = 'resolved' THEN CASE WHEN EXISTS (
      SELECT 1 FROM outbox AS other
      WHERE other.incident_id = outbox.incident_id AND other.receiver = outbox.receiver
        AND (other.state = 'sent' OR (other.state = 'discarded' AND other.attempts > 0 AND other.last_error IS NULL))
    ) THEN 'notifier_gone' ELSE 'firing_refused' END
  ELSE coalesce((
    SELECT CASE
      WHEN (incident.resolved_at IS NULL OR incident.resolved_at <> outbox.updated_at) AND EXISTS (
        SELECT 1 FROM outbox AS other
        WHERE other.incident_id = outbox.incident_id AND other.receiver = outbox.receiver AND other.id <> outbox.id
          AND other.event_type = 'firing' AND (other.state <> 'discarded' OR other.updated_at > outbox.updated_at)
      ) THEN 'coalesced'
      WHEN incident.resolved_at IS NULL OR outbox.updated_at < incident.resolved_at THEN 'notifier_gone'
      WHEN incident.resolved_by = 'agent_gone'
        AND (outbox.first_attempted_at IS NOT NULL OR outbox.updated_at = incident.resolved_at) THEN 'agent_gone'
      WHEN outbox.updated_at > incident.resolved_at THEN 'notifier_gone'
      ELSE 'incident_resolved' END
    FROM incident WHERE incident.id = outbox.incident_id
  ), 'notifier_gone') END
WHERE state = 'discarded';
`
