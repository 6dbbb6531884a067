import { ALERT_ROUTER } from "@tocsin/core/model/OutboxRecord"
import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** Label sets that the receiver `alert_router` was sent, and has to be sent again. */
export const alertTable = makeTable(storedTables.alert, {
  alias: "l",
  insertOrder: ["incident_id", "severity"],
})

/** Those of receivers by other names. It decodes alerts of both tables. */
export const receiverAlertTable = makeTable(storedTables.receiver_alert, {
  alias: "l",
  insertOrder: ["incident_id", "receiver", "severity"],
})

const OF_ALERT_ROUTER = `SELECT '${ALERT_ROUTER}' AS receiver, ${alertTable.columns}`
const OF_OTHERS = `SELECT ${receiverAlertTable.columns}`

/** Locks the alerts of incidents: claims change them without the incident's lock. */
export const lockAlertsOfIncidents = `SELECT * FROM (
    ${OF_ALERT_ROUTER} FROM alert AS l WHERE l.incident_id = ANY($1)
    ORDER BY l.incident_id, l.severity FOR UPDATE
  ) AS of_alert_router
  UNION ALL
  SELECT * FROM (
    ${OF_OTHERS} FROM receiver_alert AS l WHERE l.incident_id = ANY($1)
    ORDER BY l.incident_id, l.receiver, l.severity FOR UPDATE
  ) AS of_others`

/** Locks alerts by name. */
export const lockAlerts = `WITH wanted AS (
    SELECT * FROM json_to_recordset($1) AS given (receiver text, incident_id text, severity text)
  )
  SELECT * FROM (
    ${OF_ALERT_ROUTER} FROM wanted
    JOIN alert AS l ON l.incident_id = wanted.incident_id AND l.severity = wanted.severity
    WHERE wanted.receiver = '${ALERT_ROUTER}'
    ORDER BY l.incident_id, l.severity FOR UPDATE OF l
  ) AS of_alert_router
  UNION ALL
  SELECT * FROM (
    ${OF_OTHERS} FROM wanted
    JOIN receiver_alert AS l ON l.incident_id = wanted.incident_id
      AND l.receiver = wanted.receiver AND l.severity = wanted.severity
    ORDER BY l.incident_id, l.receiver, l.severity FOR UPDATE OF l
  ) AS of_others`

const CLAIMABLE = `l.next_at <= $1 AND (l.leased_until IS NULL OR l.leased_until <= $2)
         ORDER BY l.next_at LIMIT $3 FOR UPDATE OF l SKIP LOCKED`

/**
 * Locks alerts of the receiver `alert_router` that are due by `$1` and whose lease ended by `$2`,
 * longest due first, skipping locked ones.
 */
export const lockClaimableAlerts = `${OF_ALERT_ROUTER} FROM alert AS l WHERE ${CLAIMABLE}`

/** Does the same for the receiver `$4`. */
export const lockClaimableReceiverAlerts = `${OF_OTHERS} FROM receiver_alert AS l WHERE l.receiver = $4 AND ${CLAIMABLE}`
