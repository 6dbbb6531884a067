import { type AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { IncidentRef } from "../model/IncidentRecord.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { AgentProcessTransitions, followProcess, type Processes } from "./agentProcesses.ts"

const TWICE = "/@twice"

/** The key of the incident of an agent whose key two agents use (docs/rules.md#two-agents-with-one-key). */
export const twiceRef = (agentId: AgentId): IncidentRef => ({
  kind: "automatic",
  incident_key: IncidentKey.make(`${agentId}${TWICE}`),
})

export const isTwiceIncident = ({ incident_key, kind }: IncidentRef): boolean =>
  kind === "automatic" && incident_key.endsWith(TWICE)

const REMEDY =
  "on one of them, stop the agent, delete its key (sudo find /var/lib/tocsin-agent -type f -delete), set another agent_id, and start it"

const hostsText = (one: string, other: string): string =>
  one === other ? `both on hosts named ${one}` : `on ${one} and on ${other}`

/** Takes note of another process of an agent. Opens its incident, or prolongs it, if the process returned. */
export function* noteProcess(
  unit: UnitOfWork,
  agent: AgentRecord,
  { hostname, process }: { readonly hostname: string; readonly process: string },
  options: IncidentOptions,
): Decision<Processes> {
  const { agent_id, twice_at } = agent
  const { returned, ...processes } = followProcess(agent, process, unit.now)
  if (returned === undefined || twice_at !== undefined) return processes
  const summary = `two agents use the key of ${agent_id}, ${hostsText(agent.hostname, hostname)}: ${REMEDY}`
  // The member is the agent as a whole, as in its heartbeat incident.
  const member = { agent_id, check_id: HEARTBEAT, severity: "critical", summary } as const
  yield* new Incidents(unit, options).join(twiceRef(agent_id), { member, notify: true })
  return processes
}

/** Resolves the incident of an agent that has its key to itself. Returns the agent without it. */
export function* resolveTwice(
  unit: UnitOfWork,
  agent: AgentRecord,
  options: IncidentOptions,
): Decision<AgentRecord> {
  const ref = twiceRef(agent.agent_id)
  yield* load(unit, { openIncidents: [ref] })
  const open = unit.openIncident(ref)
  move(AgentProcessTransitions, "twice", "passed")
  if (open !== undefined) {
    const member = { incident_id: open.id, agent_id: agent.agent_id, check_id: HEARTBEAT }
    yield* new Incidents(unit, options).leave(member, {
      by: "event",
      notify: true,
      resolution: { reason: "recovered" },
    })
  }
  return { ...agent, twice_at: undefined }
}
