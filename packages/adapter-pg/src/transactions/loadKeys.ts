import type { AgentKeyRecord } from "@tocsin/core/admission/AgentRecord"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import { decodeKey, lockBlacklist, lockKeys, lockKeysOfAgents } from "../tables/AgentKeyTable.ts"

/** Brings the keys of a request into a workspace, locked. */
export const loadKeys = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  workspace: Workspace,
  { keys = [], keysOfAgents = [], blacklist = [] }: RowRequest,
): Effect.fn.Return<void, SqlError.SqlError> {
  if (keys.length > 0) {
    for (const row of yield* pg.query(lockKeys, [keys])) yield* load(workspace, decodeKey(row))
    for (const hash of keys) workspace.keys.load(hash, undefined)
  }
  if (keysOfAgents.length > 0) {
    for (const row of yield* pg.query(lockKeysOfAgents, [keysOfAgents]))
      yield* load(workspace, decodeKey(row))
    for (const agentId of keysOfAgents) workspace.keysOfAgents.add(agentId)
  }
  if (blacklist.length > 0) {
    for (const row of yield* pg.query(lockBlacklist, [blacklist])) {
      const key = decodeKey(row)
      if (key.state === "blocked") {
        workspace.blacklist.load(key.blacklist_id, { id: key.blacklist_id, key_hash: key.key_hash })
      }
      yield* load(workspace, key)
    }
    for (const id of blacklist) workspace.blacklist.load(id, undefined)
  }
})

/**
 * An agent that is not there has no lock, so its first heartbeat may be under way twice: the second one found no agent,
 * and then, in a later statement, the key that the first one registered. It starts again.
 */
const load = (workspace: Workspace, key: AgentKeyRecord): Effect.Effect<void, SqlError.SqlError> => {
  const { agent_id, key_hash, state } = key
  const isKnown = workspace.keys.isLoaded(key_hash)
  workspace.keys.load(key_hash, key)
  const isOrphan =
    !isKnown &&
    state !== "blocked" &&
    workspace.agents.isLoaded(agent_id) &&
    workspace.agents.get(agent_id) === undefined
  return isOrphan
    ? sqlError("SerializationError", { message: "The agent was registered meanwhile", operation: "execute" })
    : Effect.void
}
