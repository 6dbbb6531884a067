import type { AgentId } from "../contract/Identifiers.ts"
import type { Decision } from "./Decision.ts"
import type { Workspace } from "./Workspace.ts"

/** What a piece of work on many agents came to. */
export interface WorkOnMany {
  readonly count: number
  /** Agents that it passed over, because another transaction held them. */
  readonly held: ReadonlyArray<AgentId>
}

/**
 * Asks for agents, and passes over those that another transaction holds: one session that somebody forgot must not stop the
 * work on all others. Returns those that it passed over, which stay unloaded.
 */
export function* passHeldAgents(
  workspace: Workspace,
  agents: ReadonlyArray<AgentId>,
): Decision<ReadonlyArray<AgentId>> {
  yield { agents, passesHeld: true }
  return agents.filter((id) => !workspace.agents.isLoaded(id))
}
