import type { AgentRecord } from "../model/AgentRecord.ts"
import { type AgentId, IncidentKey } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { IncidentRef } from "../model/IncidentRecord.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { HEARTBEAT, type MemberRef } from "../model/MemberRecord.ts"

/** The key of an agent's heartbeat incident (docs/rules.md#heartbeat-incidents). */
export const heartbeatRef = (agentId: AgentId): IncidentRef => ({
  kind: "automatic",
  incident_key: IncidentKey.make(`${agentId}/${HEARTBEAT}`),
})

/** Opens the incident of a dead agent. Returns the agent with its ID. */
export function* openHeartbeatIncident(
  unit: UnitOfWork,
  agent: AgentRecord,
  now: Instant,
  options: IncidentOptions,
): Decision<AgentRecord> {
  const member = {
    agent_id: agent.agent_id,
    check_id: HEARTBEAT,
    severity: "critical",
    summary: `no contact with ${agent.agent_id} (${agent.hostname})`,
  } as const
  const incidents = new Incidents(unit, now, options)
  const heartbeat_incident_id = yield* incidents.join(heartbeatRef(agent.agent_id), { member, notify: true })
  return { ...agent, heartbeat_incident_id }
}

/** The membership in the heartbeat incident, if the agent is dead. */
export const heartbeatMember = (agent: AgentRecord): MemberRef | undefined => {
  const { agent_id, heartbeat_incident_id: incident_id } = agent
  return incident_id === undefined ? undefined : { incident_id, agent_id, check_id: HEARTBEAT }
}

/**
 * Resolves the heartbeat incident, if any, when the agent is seen. Returns the agent without it.
 */
export function* resolveHeartbeatIncident(
  unit: UnitOfWork,
  agent: AgentRecord,
  now: Instant,
  options: IncidentOptions,
): Decision<AgentRecord> {
  const member = heartbeatMember(agent)
  if (member === undefined) return agent
  yield* new Incidents(unit, now, options).leave(member, { by: "event", notify: true })
  return { ...agent, heartbeat_incident_id: undefined }
}
