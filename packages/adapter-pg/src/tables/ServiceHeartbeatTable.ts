import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** The service heartbeat, in one row. */
export const serviceHeartbeatTable = makeTable(storedTables.serviceHeartbeat, { alias: "s" })

/** Reads the service heartbeat. */
export const findServiceHeartbeat = `SELECT ${serviceHeartbeatTable.columns} FROM service_heartbeat AS s WHERE s.name = $1`

/** Locks the service heartbeat. */
export const lockServiceHeartbeat = `${findServiceHeartbeat} FOR UPDATE`

/** Stores a value unless one is stored, and returns the stored one. */
export const establish = `INSERT INTO established AS kept (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = kept.value RETURNING value`
