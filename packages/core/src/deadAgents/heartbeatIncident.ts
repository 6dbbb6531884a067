import { Duration, Effect } from "effect"
import { type AgentRecord, isSilent } from "../model/AgentRecord.ts"
import { type AgentId, IncidentKey } from "@tocsin/contract/Identifiers"
import { commandOf } from "../unitOfWork/Decision.ts"
import type { UnitOfWork } from "../unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { IncidentRef } from "../model/IncidentRecord.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { HEARTBEAT, type MemberRef } from "../model/MemberRecord.ts"
import { type Chore, type ChoreServices, isWhole } from "../engine/commits/Chore.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { finishLocked, skipLockedAgents } from "../engine/commits/lockedAgents.ts"
import * as Instant from "@tocsin/contract/Instant"
import { load } from "../unitOfWork/load.ts"
import { idlePause } from "../ports/IdlePause.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage } from "../ports/Storage.ts"
import { isInGrace } from "../liveness/outage.ts"

/** The key of an agent's heartbeat incident (docs/rules.md#heartbeat-incidents). */
const heartbeatRef = (agentId: AgentId): IncidentRef => ({
  kind: "automatic",
  incident_key: IncidentKey.make(`${agentId}/${HEARTBEAT}`),
})

/** Opens the incident of a dead agent. Returns the agent with its ID. */
export function* openHeartbeatIncident(unit: UnitOfWork, agent: AgentRecord, options: IncidentOptions) {
  const { agent_id, hostname, last_seen_at } = agent
  const host = hostname === agent_id ? "" : ` (${hostname})`
  const member = {
    agent_id,
    check_id: HEARTBEAT,
    severity: "critical",
    summary: `no contact with ${agent_id}${host} since ${Instant.momentText(last_seen_at)}`,
  } as const
  const incidents = new Incidents(unit, options)
  const heartbeat_incident_id = yield* incidents.join(heartbeatRef(agent_id), { member, notify: true })
  return { ...agent, heartbeat_incident_id }
}

/** The membership in the heartbeat incident, if the agent is dead. */
export const heartbeatMember = (agent: AgentRecord): MemberRef | undefined => {
  const { agent_id, heartbeat_incident_id: incident_id } = agent
  return incident_id === undefined ? undefined : { incident_id, agent_id, check_id: HEARTBEAT }
}

/** Resolves the heartbeat incident, if any, when the agent is seen. Returns the agent without it. */
export function* resolveHeartbeatIncident(unit: UnitOfWork, agent: AgentRecord, options: IncidentOptions) {
  const member = heartbeatMember(agent)
  if (member === undefined) return agent
  yield* new Incidents(unit, options).leave(member, { by: "event", notify: true })
  return { ...agent, heartbeat_incident_id: undefined }
}

interface SweepOptions {
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
}

/** Accepted agents last seen at this instant or earlier are dead. */
const deadSince = (now: Instant.Instant, rules: RuleOptions): Instant.Instant =>
  Instant.minus(now, rules.deadAfter)

/**
 * One bounded piece of the sweep: opens an incident for each dead agent among these, except in the
 * grace after an outage (docs/rules.md#heartbeat-incidents). Safe with several replicas.
 */
export const sweepDeadAgents = commandOf(function* (
  unit,
  input: SweepOptions & { readonly agents: ReadonlyArray<AgentId> },
) {
  const { agents, held } = yield* skipLockedAgents(unit, input.agents)
  yield* load(unit, { rows: { service_heartbeat: ["service"] } })
  if (isInGrace(unit.of("service_heartbeat").get("service"), unit.now, input.rules))
    return { count: 0, held: [] }
  const silent = agents.filter((agent) => isSilent(agent, deadSince(unit.now, input.rules)))
  yield* load(unit, { openIncidents: silent.map((agent) => heartbeatRef(agent.agent_id)) })
  for (const agent of silent) {
    unit.putAgent(yield* openHeartbeatIncident(unit, agent, input.incidents))
  }
  return { count: silent.length, held }
})

/** Opens the incidents of at most `limit` agents that have died, and returns how many. Skips locked agents. */
export const sweepStaleAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { rules, incidents, limit }: SweepOptions & { readonly limit: number },
) {
  const agents = yield* storage.staleAgents(deadSince(yield* Instant.now, rules), limit)
  if (agents.length === 0) return 0
  const piece = (some: ReadonlyArray<AgentId>) => sweepDeadAgents({ rules, incidents, agents: some })
  const { count, held } = yield* commits.transact(piece(agents))
  const later = yield* finishLocked(commits, { name: "dead_agents", piece, limit }, held)
  return count + later.count
})

/** A dead agent opens its incident within 15 s (docs/rules.md#heartbeat-incidents). */
const SWEEP_EVERY = Duration.seconds(5)

export const deadAgentsChore = (
  { commits, pieces: { rows: limit }, rules, storage }: ChoreServices,
  incidents: IncidentOptions,
): Chore => ({
  name: "looking for dead agents",
  pause: idlePause(SWEEP_EVERY),
  piece: Effect.map(sweepStaleAgents(storage, commits, { rules, incidents, limit }), isWhole(limit)),
})
