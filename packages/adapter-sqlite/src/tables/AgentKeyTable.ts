import type { AgentKeyRecord } from "@tocsin/core/model/AgentRecord"
import type { AgentId, BlacklistId, KeyHash } from "@tocsin/contract/Identifiers"
import { type StoredKey, storedTables } from "@tocsin/core/model/StoredTables"
import type { Change } from "@tocsin/core/engine/unitOfWork/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

// Blocked keys, and only these, have all columns: they are written so.
const toKey = (stored: StoredKey): AgentKeyRecord => stored as AgentKeyRecord

/** Table `agent_key`. Its blocked keys are the blacklist. */
export const makeAgentKeyTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.agent_key)
  const byHash = table.one<[KeyHash]>("WHERE key_hash = ?")
  const ofAgent = table.all<[AgentId]>("WHERE agent_id = ? AND state <> 'blocked'")
  const byBlacklistId = table.one<[BlacklistId]>("WHERE blacklist_id = ? AND state = 'blocked'")
  return {
    find: (hash: KeyHash): AgentKeyRecord | undefined => {
      const found = byHash(hash)
      return found && toKey(found)
    },
    ofAgent: (agentId: AgentId): ReadonlyArray<AgentKeyRecord> => ofAgent(agentId).map(toKey),
    findBlocked: (id: BlacklistId): AgentKeyRecord | undefined => {
      const found = byBlacklistId(id)
      return found && toKey(found)
    },
    write: (change: Change<AgentKeyRecord>): void => table.write(change),
  }
}
