import type { AgentKeyRecord, AgentsKeyRecord, BlockedKeyRecord } from "@tocsin/core/admission/AgentRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import {
  deleteStatement,
  insertStatement,
  selectList,
  type TableShape,
  updateStatement,
} from "./TableShape.ts"

/** Keys in every state in one table: only blocked ones have the last three columns. */
interface StoredKey extends Omit<AgentsKeyRecord, "state"> {
  readonly state: AgentKeyRecord["state"]
  readonly blacklist_id?: BlockedKeyRecord["blacklist_id"]
  readonly blocked_at?: BlockedKeyRecord["blocked_at"]
  readonly hostname?: BlockedKeyRecord["hostname"]
}

const shape: TableShape<Required<StoredKey>> = {
  name: "agent_key",
  key: ["key_hash"],
  insertOrder: ["key_hash"],
  columns: {
    key_hash: "text",
    key_fingerprint: "text",
    agent_id: "text",
    state: "text",
    created_at: "int8",
    last_seen_at: "int8",
    blacklist_id: "text",
    blocked_at: "int8",
    hostname: "text",
  },
}

type KeyRow = (AgentsKeyRecord & Record<"blacklist_id" | "blocked_at" | "hostname", null>) | BlockedKeyRecord

/** Columns of a key, of the table alias `k`. */
export const keyColumns = selectList(shape.columns, "k")

/** Inserts keys; fails where another transaction registered one meanwhile. */
export const insertKeys = insertStatement(shape)

/** Replaces keys, which must be locked. */
export const updateKeys = updateStatement(shape)

/** Deletes keys, which must be locked. */
export const deleteKeys = deleteStatement(shape)

const lockKeysWhere = (condition: string): string =>
  `SELECT ${keyColumns} FROM agent_key AS k WHERE ${condition} ORDER BY k.key_hash FOR UPDATE`

/**
 * Locks keys, in the order of their hashes. Those of an agent are guarded by its lock already; blocked keys, and keys of
 * agents other than the one that presents them, are not.
 */
export const lockKeys: PgStatement = {
  name: "lock_keys",
  text: lockKeysWhere("k.key_hash = ANY($1)"),
}

/** Locks all keys of agents that are not blocked. */
export const lockKeysOfAgents: PgStatement = {
  name: "lock_keys_of_agents",
  text: lockKeysWhere("k.agent_id = ANY($1) AND k.state <> 'blocked'"),
}

/** Locks blocked keys, by the ids of their blacklist rows. */
export const lockBlacklist: PgStatement = {
  name: "lock_blacklist",
  text: lockKeysWhere("k.blacklist_id = ANY($1) AND k.state = 'blocked'"),
}

/** Reads a row that was selected by {@link keyColumns}. */
export const decodeKey = (found: SqlConnection.Row): AgentKeyRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as KeyRow
  if (row.state === "blocked") return row
  const { blacklist_id: _id, blocked_at: _at, hostname: _hostname, ...key } = row
  return key
}
