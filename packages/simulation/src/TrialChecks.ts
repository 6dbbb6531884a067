import { followStatus } from "@tocsin/core/heart/checks/applyEvent"
import { type CheckRecord, checkTransition } from "@tocsin/core/heart/model/CheckRecord"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { type Command, commandOf } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { IncidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { Incidents } from "@tocsin/core/heart/incidents/Incidents"
import { resolveHeartbeatIncident } from "@tocsin/core/heart/deadAgents/heartbeatIncident"

/** Results that one agent sent at one moment, as a service has stored them. */
export interface PastResults {
  readonly agent_id: AgentId
  readonly events: ReadonlyArray<CheckResultEvent>
}

type PastCheck = Pick<CheckRecord, "status" | "incident_id">

/**
 * The checks of a past. A service has applied each of its results, so none of them is late or known, and
 * only those with another status count.
 */
export class TrialChecks {
  readonly #agents = new Map<AgentId, Map<CheckId, PastCheck>>()

  /** Whether one of these results has another status than its check. */
  isMoved({ agent_id, events }: PastResults): boolean {
    const checks = this.#agents.get(agent_id)
    return events.some(({ check_id, status }) => checks?.get(check_id)?.status !== status)
  }

  follow(request: PastResults, options: IncidentOptions): Command<void> {
    const { agent_id } = request
    const checks = this.#agents.get(agent_id) ?? new Map<CheckId, PastCheck>()
    this.#agents.set(agent_id, checks)
    return followResults(request, checks, options)
  }
}

const followResults = commandOf(function* (
  unit,
  request: PastResults,
  checks: Map<CheckId, PastCheck>,
  options: IncidentOptions,
) {
  const { agent_id, events } = request
  yield { agents: [agent_id] }
  const agent = unit.agents.get(agent_id)
  if (agent?.heartbeat_incident_id !== undefined)
    unit.putAgent(yield* resolveHeartbeatIncident(unit, agent, options))
  const incidents = new Incidents(unit, options)
  for (const event of events) {
    const { check_id, status } = event
    const check = checks.get(check_id)
    if (check?.status === status) continue
    const transition = checkTransition(check?.status ?? "absent", status)
    const context = { unit, incidents, input: { request } }
    const incident_id = yield* followStatus(context, transition, { check, event })
    checks.set(check_id, { status, incident_id })
  }
})
