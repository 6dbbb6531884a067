import { move } from "../TransitionTable.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { AgentsKeyRecord } from "./AgentKeyRecord.ts"
import type { AgentRecord } from "./AgentRecord.ts"
import { AgentKeyTransitions } from "./AgentKeyTransitions.ts"
import { AgentTransitions } from "./AgentTransitions.ts"

/**
 * Makes a key the accepted key of its agent; one that it had is superseded in the same moment (docs/rules.md#agent-keys). Another
 * pending key of the agent stays pending, now as a replacement.
 */
export function* acceptKey(
  workspace: Workspace,
  agent: AgentRecord,
  key: AgentsKeyRecord & { readonly state: "pending" },
  trigger: "accepted" | "preseeded",
): Decision<void> {
  yield* supersede(workspace, agent)
  workspace.keys.put({ ...key, state: move(AgentKeyTransitions, key.state, trigger) })
  const otherPending = agent.pending_key_hash === key.key_hash ? undefined : agent.pending_key_hash
  workspace.putAgent({
    ...agent,
    admission_state: move(AgentTransitions, agent.admission_state, "key_accepted"),
    accepted_key_hash: key.key_hash,
    pending_key_hash: otherPending,
    key_fingerprint: otherPending === undefined ? key.key_fingerprint : agent.key_fingerprint,
  })
}

function* supersede(workspace: Workspace, agent: AgentRecord): Decision<void> {
  if (agent.accepted_key_hash === undefined) return
  yield* ensure(workspace, { keys: [agent.accepted_key_hash] })
  const old = workspace.keys.get(agent.accepted_key_hash)
  if (old?.state !== "accepted") throw new Error(`agent ${agent.agent_id} names an accepted key that is none`)
  workspace.keys.put({ ...old, state: move(AgentKeyTransitions, old.state, "superseded") })
}
