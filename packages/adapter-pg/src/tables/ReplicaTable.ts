import { storedTables } from "@tocsin/core/model/StoredTables"
import { ADVISORY_LOCKS } from "../advisoryLocks.ts"
import { makeTable } from "./makeTable.ts"

/** Processes of the service. */
export const replicaTable = makeTable(storedTables.replica, { alias: "r", insertOrder: ["id"] })

/** Reads the rows of all replicas. */
export const findReplicas = `SELECT ${replicaTable.columns} FROM replica AS r`

/** Serialises reports until the transaction ends: the first one finds no row that it could lock. */
export const lockReports = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.reports}) AS locked`

/** Locks the rows of all replicas. */
export const lockReplicas = `${findReplicas} ORDER BY r.id FOR UPDATE`
