const MINUTE = 60_000_000

const SHADOWED = "attempts > 0 AND last_error IS NULL"

/**
 * Why a discarded item was, which earlier versions left to be concluded from the times of rows. A discarded item
 * changes no more, so its last change is its end.
 */
const BECAUSE = `CASE WHEN ${SHADOWED} THEN 'shadowed'
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
  ), 'notifier_gone') END`

/** The differences between the SQL of databases. */
interface Dialect {
  readonly object: "json_object" | "json_build_object"
  readonly isTrue: string
  readonly least: "least" | "min"
  /** The names in `outbox.held_by`, with their places. */
  readonly names: string
  /** The list of the column `hold`, by `place`. */
  readonly list: string
}

/**
 * The holds of the names in `held_by` and of the moments of parents. Beside others, `outage` may be over. Of the
 * other ends, a decision reads that of a delay alone.
 */
const holdsOf = ({ isTrue, least, list, names, object }: Dialect): string => `SELECT ${list} FROM (
    SELECT place, CASE
      WHEN name = 'parent:' THEN ${object}('by', name, 'since', first_parent_ended_at, 'hasEnded', ${isTrue})
      WHEN name LIKE 'parent:%' AND parent_ended_at IS NOT NULL THEN ${object}('by', name,
        'until', ${least}(parent_ended_at + ${2 * MINUTE}, first_parent_ended_at + ${10 * MINUTE}),
        'since', first_parent_ended_at, 'hasEnded', ${isTrue})
      WHEN name LIKE 'parent:%' AND first_parent_ended_at IS NOT NULL
        THEN ${object}('by', name, 'until', first_parent_ended_at + ${10 * MINUTE}, 'since', first_parent_ended_at)
      WHEN name = 'outage' AND (next_evaluation_at IS NULL OR CAST(held_by AS text) <> '["outage"]')
        THEN ${object}('by', name, 'hasEnded', ${isTrue})
      WHEN name IN ('after', 'outage') THEN ${object}('by', name, 'until', next_evaluation_at)
      ELSE ${object}('by', name) END AS hold
    FROM (
      ${names}
      UNION ALL SELECT 'parent:', 1000
      WHERE first_parent_ended_at IS NOT NULL AND coalesce(CAST(held_by AS text), '') NOT LIKE '%"parent:%'
    ) AS named
  ) AS found`

/** Fills the columns that replace the names of holds and the moments of parents, and state why an item was discarded. */
export const fillOutbox = (dialect: Dialect): string => `
UPDATE outbox SET discarded_because = ${BECAUSE} WHERE state = 'discarded';
UPDATE outbox SET holds = (
  ${holdsOf(dialect)}
) WHERE held_by IS NOT NULL OR first_parent_ended_at IS NOT NULL;
`
