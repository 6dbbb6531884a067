import { keyedTables } from "./keyedTables.ts"

/** Label sets that a receiver of the kind `alert_router` was sent, and has to be sent again. */
export const alertTable = keyedTables.alert

/** Locks the alerts of incidents: claims change them without the incident's lock. */
export const lockAlertsOfIncidents = `SELECT ${alertTable.columns} FROM alert AS l
  WHERE l.incident_id = ANY($1) ORDER BY l.incident_id, l.receiver, l.severity FOR UPDATE OF l`

/**
 * Locks alerts of the receiver `$4` that are due by `$1` and whose lease ended by `$2`, longest due
 * first, skipping locked ones.
 */
export const lockClaimableAlerts = `SELECT ${alertTable.columns} FROM alert AS l
  WHERE l.receiver = $4 AND l.next_at <= $1 AND (l.leased_until IS NULL OR l.leased_until <= $2)
  ORDER BY l.next_at LIMIT $3 FOR UPDATE OF l SKIP LOCKED`
