import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** Label sets that a receiver of the kind `alert_router` was sent, and has to be sent again. */
export const alertTable = makeTable(storedTables.alert, {
  alias: "l",
  insertOrder: ["incident_id", "receiver", "severity"],
})

const IN_ORDER = "ORDER BY l.incident_id, l.receiver, l.severity FOR UPDATE OF l"

/** Locks the alerts of incidents: claims change them without the incident's lock. */
export const lockAlertsOfIncidents = `SELECT ${alertTable.columns} FROM alert AS l
  WHERE l.incident_id = ANY($1) ${IN_ORDER}`

/** Locks alerts by name. */
export const lockAlerts = `SELECT ${alertTable.columns}
  FROM json_to_recordset($1) AS wanted (receiver text, incident_id text, severity text)
  JOIN alert AS l ON l.incident_id = wanted.incident_id
    AND l.receiver = wanted.receiver AND l.severity = wanted.severity
  ${IN_ORDER}`

/**
 * Locks alerts of the receiver `$4` that are due by `$1` and whose lease ended by `$2`, longest due
 * first, skipping locked ones.
 */
export const lockClaimableAlerts = `SELECT ${alertTable.columns} FROM alert AS l
  WHERE l.receiver = $4 AND l.next_at <= $1 AND (l.leased_until IS NULL OR l.leased_until <= $2)
  ORDER BY l.next_at LIMIT $3 FOR UPDATE OF l SKIP LOCKED`
