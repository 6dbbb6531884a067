import type { AgentKeyRecord } from "@tocsin/core/model/AgentRecord"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqlConnection } from "effect/sql"
import { makeTable } from "./makeTable.ts"

/** Keys of agents, and blocked keys, which are the blacklist. */
export const keyTable = makeTable(storedTables.agent_key, { alias: "k", insertOrder: ["key_hash"] })

/** Reads a key. A CHECK of the table requires the columns of a blocked one. */
export const decodeKey = (row: SqlConnection.Row): AgentKeyRecord => keyTable.decode(row) as AgentKeyRecord

const lockKeysWhere = (condition: string): string =>
  `SELECT ${keyTable.columns} FROM agent_key AS k WHERE ${condition} ORDER BY k.key_hash FOR UPDATE`

/**
 * Locks keys in the order of their hashes. The lock of an agent guards its own keys. It guards
 * neither blocked keys nor a key of another agent that a request presents.
 */
export const lockKeys = lockKeysWhere("k.key_hash = ANY($1)")

/** Locks all keys of agents that are not blocked. */
export const lockKeysOfAgents = lockKeysWhere("k.agent_id = ANY($1) AND k.state <> 'blocked'")

/** Locks blocked keys, by the ids of their blacklist rows. */
export const lockBlacklist = lockKeysWhere("k.blacklist_id = ANY($1) AND k.state = 'blocked'")
