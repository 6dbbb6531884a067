import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { AgentsKeyRecord } from "./AgentKeyRecord.ts"
import type { AgentRecord } from "./AgentRecord.ts"

/** The pending key of an agent, if it has one. */
export function* pendingKeyOf(
  workspace: Workspace,
  agent: AgentRecord,
): Decision<(AgentsKeyRecord & { readonly state: "pending" }) | undefined> {
  if (agent.pending_key_hash === undefined) return undefined
  yield* ensure(workspace, { keys: [agent.pending_key_hash] })
  const key = workspace.keys.get(agent.pending_key_hash)
  if (key?.state !== "pending") throw new Error(`agent ${agent.agent_id} names a pending key that is none`)
  return { ...key, state: key.state }
}
