import type { AgentId, CheckId, KeyHash } from "../contract/Identifiers.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { AgentKeyRecord, AgentsKeyRecord, BlockedKeyRecord } from "./AgentKeyRecord.ts"
import type { AgentRecord } from "./AgentRecord.ts"

/** What a key presented under an agent id turns out to be (docs/rules.md#agent-keys). */
export type Standing =
  | { readonly standing: "accepted"; readonly agent: AgentRecord }
  | { readonly standing: "pending"; readonly agent: AgentRecord; readonly key: AgentsKeyRecord }
  | { readonly standing: "blocked"; readonly key: BlockedKeyRecord }
  | { readonly standing: "superseded" }
  | { readonly standing: "key_of_another_agent" }
  | { readonly standing: "unknown"; readonly agent: AgentRecord | undefined }

interface Presented {
  readonly agent_id: AgentId
  readonly key_hash: KeyHash
  /** Checks that the caller is going to need, loaded along with the agent. */
  readonly check_ids?: ReadonlyArray<CheckId>
}

/** Tells what a key is. The usual case, an accepted key, is told from the agent's row alone. */
export function* recognise(workspace: Workspace, presented: Presented): Decision<Standing> {
  const { agent_id, key_hash, check_ids } = presented
  if (check_ids !== undefined)
    yield* ensure(workspace, { agents: [agent_id], checks: { agent_id, check_ids } })
  else if (!workspace.agents.isLoaded(agent_id)) yield { agents: [agent_id] }
  const agent = workspace.agents.get(agent_id)
  if (agent?.accepted_key_hash === key_hash) return { standing: "accepted", agent }
  yield* ensure(workspace, { keys: [key_hash] })
  return standingOf(workspace.keys.get(key_hash), agent_id, agent)
}

const standingOf = (
  key: AgentKeyRecord | undefined,
  agentId: AgentId,
  agent: AgentRecord | undefined,
): Standing => {
  if (key === undefined) return { standing: "unknown", agent }
  if (key.state === "blocked") return { standing: "blocked", key }
  if (key.agent_id !== agentId) return { standing: "key_of_another_agent" }
  if (key.state === "superseded") return { standing: "superseded" }
  if (agent === undefined) throw new Error("a key that is not blocked outlived its agent")
  return key.state === "pending" ? { standing: "pending", agent, key } : { standing: "accepted", agent }
}
