/** Each running total that a database keeps in `system_total`, and the SQL that counts it. */
const TOTALS = {
  agents_accepted: "count(*) FROM agent WHERE admission_state = 'accepted'",
  agents_pending: "count(*) FROM agent WHERE admission_state = 'pending'",
  agents_dead: "count(*) FROM agent WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL",
  checks_ok: "coalesce(sum(checks_ok), 0) FROM agent",
  checks_warning: "coalesce(sum(checks_warning), 0) FROM agent",
  checks_critical: "coalesce(sum(checks_critical), 0) FROM agent",
  checks_unknown: "coalesce(sum(checks_unknown), 0) FROM agent",
  incidents_open: "count(*) FROM incident WHERE state = 'open'",
}

/**
 * Finds, in one look, the totals that are not what the rows count, each with both numbers. A writer
 * without triggers leaves such totals.
 */
export const FIND_WRONG_TOTALS = `SELECT name || ' is ' || kept || ' instead of ' || counted AS wrong FROM (${Object.entries(
  TOTALS,
)
  .map(
    ([name, counted]) =>
      `SELECT '${name}' AS name, (SELECT coalesce(sum(${name}), 0) FROM system_total) AS kept, (SELECT ${counted}) AS counted`,
  )
  .join(" UNION ALL ")}) AS total WHERE kept <> counted`
