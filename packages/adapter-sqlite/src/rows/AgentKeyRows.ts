import type { AgentKeyRecord, BlockedKeyRecord } from "@tocsin/core/admission/AgentRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { AgentId, BlacklistId, KeyHash } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { upsert } from "./upsert.ts"

/** The columns of a key, in the order of {@link AgentKeyRow}. */
export const AGENT_KEY_COLUMNS = [
  "key_hash",
  "key_fingerprint",
  "agent_id",
  "created_at",
  "last_seen_at",
  "state",
  "blacklist_id",
  "blocked_at",
  "hostname",
] as const

type KeyFields = readonly [
  key_hash: KeyHash,
  key_fingerprint: AgentKeyRecord["key_fingerprint"],
  agent_id: AgentId,
  created_at: Instant,
  last_seen_at: Instant,
]
export type BlockedKeyRow = readonly [
  ...KeyFields,
  state: "blocked",
  blacklist_id: BlacklistId,
  blocked_at: Instant,
  hostname: string,
]
type AgentKeyRow =
  | readonly [...KeyFields, state: "pending" | "accepted" | "superseded", blacklist_id: null, null, null]
  | BlockedKeyRow

const toFields = (row: AgentKeyRow) => ({
  key_hash: row[0],
  key_fingerprint: row[1],
  agent_id: row[2],
  created_at: row[3],
  last_seen_at: row[4],
})

/** The record of a row of a blocked key that `AGENT_KEY_COLUMNS` selected. */
export const toBlockedKey = (row: BlockedKeyRow): BlockedKeyRecord => ({
  ...toFields(row),
  state: row[5],
  blacklist_id: row[6],
  blocked_at: row[7],
  hostname: row[8],
})

const toAgentKey = (row: AgentKeyRow): AgentKeyRecord =>
  row[5] === "blocked" ? toBlockedKey(row) : { ...toFields(row), state: row[5] }

const blockedValues = (key: AgentKeyRecord) =>
  key.state === "blocked" ? [key.blacklist_id, key.blocked_at, key.hostname] : [null, null, null]

/** Table `agent_key`. */
export const makeAgentKeyRows = (connection: SqliteConnection) => {
  const select = `SELECT ${AGENT_KEY_COLUMNS.join(", ")} FROM agent_key`
  const byHash = connection.query<AgentKeyRow>(`${select} WHERE key_hash = ?`)
  const ofAgent = connection.query<AgentKeyRow>(`${select} WHERE agent_id = ? AND state <> 'blocked'`)
  const byBlacklistId = connection.query<AgentKeyRow>(
    `${select} WHERE blacklist_id = ? AND state = 'blocked'`,
  )
  const write = connection.query(upsert("agent_key", AGENT_KEY_COLUMNS, ["key_hash"]))
  const remove = connection.query("DELETE FROM agent_key WHERE key_hash = ?")
  return {
    find: (hash: KeyHash): AgentKeyRecord | undefined => {
      const row = byHash.get(hash)
      return row && toAgentKey(row)
    },
    ofAgent: (agentId: AgentId): ReadonlyArray<AgentKeyRecord> => ofAgent.all(agentId).map(toAgentKey),
    findBlocked: (id: BlacklistId): AgentKeyRecord | undefined => {
      const row = byBlacklistId.get(id)
      return row && toAgentKey(row)
    },
    write: ({ before, after }: Change<AgentKeyRecord>): void => {
      if (after === undefined) {
        if (before !== undefined) remove.run(before.key_hash)
        return
      }
      const { key_hash, key_fingerprint, agent_id, created_at, last_seen_at, state } = after
      write.run(key_hash, key_fingerprint, agent_id, created_at, last_seen_at, state, ...blockedValues(after))
    },
  }
}
