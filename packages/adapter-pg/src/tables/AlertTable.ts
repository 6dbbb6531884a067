import type { AlertRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Nullable } from "./Nullable.ts"
import { deleteStatement, selectList, type TableShape, upsertStatement } from "./TableShape.ts"

const shape: TableShape<AlertRecord> = {
  name: "alert",
  key: ["incident_id", "severity"],
  insertOrder: ["incident_id", "severity"],
  columns: {
    incident_id: "text",
    severity: "text",
    next_at: "int8",
    ended_at: "int8",
    leased_until: "int8",
  },
}

const columns = selectList(shape.columns, "l")

/** Inserts or replaces alerts. */
export const upsertAlerts = upsertStatement(shape)

/** Deletes alerts, which must be locked. */
export const deleteAlerts = deleteStatement(shape)

/** Locks the alerts of incidents: claims change them without their incident's lock. */
export const lockAlertsOfIncidents: PgStatement = {
  name: "lock_alerts_of_incidents",
  text: `SELECT ${columns} FROM alert AS l WHERE l.incident_id = ANY($1)
         ORDER BY l.incident_id, l.severity FOR UPDATE`,
}

/** Locks alerts by name. */
export const lockAlerts: PgStatement = {
  name: "lock_alerts",
  text: `SELECT ${columns}
         FROM json_to_recordset($1) AS wanted (incident_id text, severity text)
         JOIN alert AS l ON l.incident_id = wanted.incident_id AND l.severity = wanted.severity
         ORDER BY l.incident_id, l.severity FOR UPDATE OF l`,
}

/** Locks alerts that are due by `$1` and that nobody holds by `$2`, longest due first, passing over locked ones. */
export const lockClaimableAlerts: PgStatement = {
  name: "lock_claimable_alerts",
  text: `SELECT ${columns} FROM alert AS l
         WHERE l.next_at <= $1 AND (l.leased_until IS NULL OR l.leased_until <= $2)
           AND EXISTS (SELECT FROM incident AS i WHERE i.id = l.incident_id)
         ORDER BY l.next_at LIMIT $3 FOR UPDATE OF l SKIP LOCKED`,
}

/** Reads a row that one of these statements selected. */
export const decodeAlert = (found: SqlConnection.Row): AlertRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as Nullable<AlertRecord, "ended_at" | "leased_until">
  return { ...row, ended_at: row.ended_at ?? undefined, leased_until: row.leased_until ?? undefined }
}
