import type { Instant } from "../contract/Instant.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import { HEARTBEAT } from "../liveness/heartbeatIncident.ts"
import { move } from "../TransitionTable.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import { discardUnheard } from "./enqueue.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"
import { OutboxTransitions } from "./OutboxTransitions.ts"

/**
 * What follows from an attempt at a firing that failed. Where the agent was deleted meanwhile, nobody is to be told any more:
 * the firing is discarded. With one that was refused or discarded goes the resolved behind it. Needs the firing's incident.
 */
export function* followFailure(workspace: Workspace, firing: OutboxRecord, now: Instant): Decision<void> {
  const incident = workspace.incidents.get(firing.incident_id)
  if (incident === undefined || firing.event_type !== "firing") return
  if (firing.state === "retry") {
    if (!(yield* isAgentGone(workspace, incident))) return
    const state = move(OutboxTransitions, firing.state, "agent_gone")
    workspace.outbox.put({ ...firing, state, next_attempt_at: undefined })
  }
  discardUnheard(workspace, firing, now)
}

/**
 * Whether the agent or check that was the last member of a resolved incident has been deleted. A resolved incident names it,
 * and nobody else holds the rows of one: they may be asked for out of their usual order.
 */
function* isAgentGone(workspace: Workspace, incident: IncidentRecord): Decision<boolean> {
  const { resolved_at, agent_id, check_id } = incident
  if (resolved_at === undefined || agent_id === undefined || check_id === undefined) return false
  yield* ensure(workspace, { agents: [agent_id] })
  const agent = workspace.agents.get(agent_id)
  if (agent === undefined || agent.registered_at > resolved_at) return true
  if (check_id === HEARTBEAT) return false
  yield* ensure(workspace, { checks: { agent_id, check_ids: [check_id] } })
  const { registration_id } = agent
  return workspace.checks.get({ agent_id, registration_id, check_id }) === undefined
}
