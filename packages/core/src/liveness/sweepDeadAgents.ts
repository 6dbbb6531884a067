import * as Instant from "../contract/Instant.ts"
import type { IncidentOptions } from "../incidents/Incidents.ts"
import type { PolicyOptions } from "../ports/Policy.ts"
import type { Command, Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import { heartbeatRef, openHeartbeatIncident } from "./heartbeatIncident.ts"
import { isInGrace } from "./outage.ts"

interface SweepInput {
  readonly policy: PolicyOptions
  readonly incidents: IncidentOptions
  /** How many agents one transaction takes. */
  readonly limit: number
}

/**
 * One bounded piece of the sweep: opens an incident for each accepted agent that has turned dead, unless the service
 * itself was away until lately (decisions §5). Returns how many it opened; safe with several replicas.
 */
export const sweepDeadAgents =
  (input: SweepInput): Command<number> =>
  (workspace, now) =>
    sweep(workspace, now, input)

function* sweep(workspace: Workspace, now: Instant.Instant, input: SweepInput): Decision<number> {
  yield* ensure(workspace, { mark: true })
  if (isInGrace(workspace.marks.get("service"), now, input.policy)) return 0
  yield { silentAgents: { seenBefore: Instant.minus(now, input.policy.deadAfter), limit: input.limit } }
  const agents = workspace.found.silentAgents.flatMap((id) => workspace.agents.get(id) ?? [])
  yield* ensure(workspace, { openIncidents: agents.map((agent) => heartbeatRef(agent.agent_id)) })
  for (const agent of agents) {
    workspace.putAgent(yield* openHeartbeatIncident(workspace, agent, now, input.incidents))
  }
  return agents.length
}
