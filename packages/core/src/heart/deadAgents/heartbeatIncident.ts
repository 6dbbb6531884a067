import { Duration, Effect } from "effect"
import { type AgentRecord, isSilent, wasTwice } from "../model/AgentRecord.ts"
import { type AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { commandOf, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { IncidentRef } from "../model/IncidentRecord.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { HEARTBEAT, type MemberRef } from "../model/MemberRecord.ts"
import { type Chore, type ChoreServices, isWhole } from "../../kernel/engine/commits/Chore.ts"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { finishLocked, skipLockedAgents } from "../../kernel/engine/commits/lockedAgents.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { isInGrace } from "../liveness/outage.ts"
import { twiceBefore } from "./agentProcesses.ts"
import { resolveTwice, twiceRef } from "./twiceIncident.ts"

/** The key of an agent's heartbeat incident (docs/rules.md#heartbeat-incidents). */
export const heartbeatRef = (agentId: AgentId): IncidentRef => ({
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
    summary: `no contact with ${agent_id}${host} since ${zonedText(last_seen_at, options.policy().tz)}`,
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
  yield* new Incidents(unit, options).leave(member, {
    by: "event",
    notify: true,
    resolution: { reason: "recovered" },
  })
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
 * One bounded piece of the sweep: opens an incident for each dead agent among these, and resolves that of each
 * agent that has its key to itself again, except in the grace after an outage
 * (docs/rules.md#heartbeat-incidents, docs/rules.md#two-agents-with-one-key). Safe with several replicas.
 */
export const sweepDeadAgents = commandOf(function* (
  unit,
  input: SweepOptions & { readonly agents: ReadonlyArray<AgentId> },
) {
  const { agents, held } = yield* skipLockedAgents(unit, input.agents)
  yield* load(unit, { rows: { service_heartbeat: ["service"] } })
  if (isInGrace(unit.of("service_heartbeat").get("service"), unit.now, input.rules))
    return { count: 0, held: [] }
  const isDead = (agent: AgentRecord) => isSilent(agent, deadSince(unit.now, input.rules))
  const isOver = (agent: AgentRecord) => wasTwice(agent, twiceBefore(unit.now))
  const due = agents.filter((agent) => isDead(agent) || isOver(agent))
  const refs = due.flatMap(({ agent_id }) => [heartbeatRef(agent_id), twiceRef(agent_id)])
  yield* load(unit, { openIncidents: refs })
  for (const agent of due) {
    const alone = isOver(agent) ? yield* resolveTwice(unit, agent, input.incidents) : agent
    unit.putAgent(isDead(agent) ? yield* openHeartbeatIncident(unit, alone, input.incidents) : alone)
  }
  return { count: due.length, held }
})

/** Sweeps at most `limit` agents, and returns of how many an incident opened or resolved. Skips locked agents. */
export const sweepStaleAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { rules, incidents, limit }: SweepOptions & { readonly limit: number },
) {
  const now = yield* Instant.now
  const agents = yield* storage.staleAgents(deadSince(now, rules), limit, twiceBefore(now))
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
