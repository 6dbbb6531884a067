import type { AgentRecord } from "../admission/AgentRecord.ts"
import type { AgentId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import type { IncidentOptions } from "../incidents/Incidents.ts"
import type { PolicyOptions } from "../ports/Policy.ts"
import type { Command, Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import { passHeldAgents, type WorkOnMany } from "../workspace/passHeldAgents.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import { heartbeatRef, openHeartbeatIncident } from "./heartbeatIncident.ts"
import { isInGrace } from "./outage.ts"

interface SweepInput {
  readonly policy: PolicyOptions
  readonly incidents: IncidentOptions
  /** Who may have turned dead: what `Storage.silentAgents` found for {@link deadSince}. */
  readonly agents: ReadonlyArray<AgentId>
}

/** Accepted agents that were last seen at this instant or earlier are dead. */
export const deadSince = (now: Instant.Instant, policy: PolicyOptions): Instant.Instant =>
  Instant.minus(now, policy.deadAfter)

/**
 * One bounded piece of the sweep: opens an incident for each of these agents that has turned dead indeed, unless the service
 * itself was away until lately (docs/rules.md#heartbeat-incidents). Safe with several replicas.
 */
export const sweepDeadAgents =
  (input: SweepInput): Command<WorkOnMany> =>
  (workspace, now) =>
    sweep(workspace, now, input)

const isSilent = (agent: AgentRecord, since: Instant.Instant): boolean =>
  agent.admission_state === "accepted" &&
  agent.heartbeat_incident_id === undefined &&
  agent.last_seen_at <= since

function* sweep(workspace: Workspace, now: Instant.Instant, input: SweepInput): Decision<WorkOnMany> {
  const held = yield* passHeldAgents(workspace, input.agents)
  yield* ensure(workspace, { mark: true })
  if (isInGrace(workspace.marks.get("service"), now, input.policy)) return { count: 0, held: [] }
  const agents = input.agents
    .filter((id) => workspace.agents.isLoaded(id))
    .flatMap((id) => workspace.agents.get(id) ?? [])
    .filter((agent) => isSilent(agent, deadSince(now, input.policy)))
  yield* ensure(workspace, { openIncidents: agents.map((agent) => heartbeatRef(agent.agent_id)) })
  for (const agent of agents) {
    workspace.putAgent(yield* openHeartbeatIncident(workspace, agent, now, input.incidents))
  }
  return { count: agents.length, held }
}
