import type { Instant } from "../contract/Instant.ts"
import { compareMembers } from "../incidents/compareMembers.ts"
import { Incidents, type IncidentOptions } from "../incidents/Incidents.ts"
import type { MemberRecord } from "../incidents/MemberRecord.ts"
import { move } from "../TransitionTable.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { AgentRecord } from "./AgentRecord.ts"
import { AgentKeyTransitions } from "./AgentKeyTransitions.ts"
import { AgentTransitions } from "./AgentTransitions.ts"

/**
 * Of the members of one incident, the one that speaks for it leaves last: what a resolved incident goes on to show must not
 * depend on the order in which a storage loads memberships.
 */
const compareLeaving = (a: MemberRecord, b: MemberRecord): number =>
  a.incident_id === b.incident_id ? compareMembers(b, a) : a.incident_id < b.incident_id ? -1 : 1

/** The present memberships of an agent, in the order in which they leave. */
export function* membershipsInOrder(
  workspace: Workspace,
  agent: AgentRecord,
): Decision<ReadonlyArray<MemberRecord>> {
  yield* ensure(workspace, { membersOfAgents: [agent.agent_id] })
  return workspace.membershipsOf(agent.agent_id).toSorted(compareLeaving)
}

/**
 * Deletes an agent and all that it owns: keys that are not blocked, checks, history. Its checks leave their incidents;
 * those in which it was the last member resolve (docs/rules.md#deleting-an-agent). Costs as much as it has keys and troubled checks.
 */
export function* removeAgent(
  workspace: Workspace,
  agent: AgentRecord,
  now: Instant,
  options: IncidentOptions,
): Decision<void> {
  const { agent_id } = agent
  yield* ensure(workspace, { keysOfAgents: [agent_id], membersOfAgents: [agent_id] })
  for (const key of workspace.keys.group(agent_id)) {
    if (key.state === "blocked") continue
    move(AgentKeyTransitions, key.state, "agent_removed")
    workspace.keys.delete(key.key_hash)
  }
  const memberships = yield* membershipsInOrder(workspace, agent)
  yield* ensure(workspace, { incidents: memberships.map((member) => member.incident_id) })
  const incidents = new Incidents(workspace, now, options)
  for (const member of memberships) yield* incidents.leave(member, { by: "agent_gone" })
  move(AgentTransitions, agent.admission_state, "removed")
  workspace.removeAgent(agent)
}
