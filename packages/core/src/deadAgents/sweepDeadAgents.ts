import { Duration, Effect } from "effect"
import { type Chore, type ChoreServices, isWhole } from "../engine/commits/Chore.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { isSilent } from "../model/AgentRecord.ts"
import { finishLocked, skipLockedAgents, type WorkOnMany } from "../engine/commits/lockedAgents.ts"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { idlePause } from "../ports/IdlePause.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { heartbeatRef, openHeartbeatIncident } from "./heartbeatIncident.ts"
import { isInGrace } from "../liveness/outage.ts"

interface SweepInput {
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
  /** Candidates: what `Storage.staleAgents` found for {@link deadSince}. */
  readonly agents: ReadonlyArray<AgentId>
}

/** Accepted agents last seen at this instant or earlier are dead. */
const deadSince = (now: Instant.Instant, rules: RuleOptions): Instant.Instant =>
  Instant.minus(now, rules.deadAfter)

/**
 * One bounded piece of the sweep: opens an incident for each dead agent among these, except in the
 * grace after an outage (docs/rules.md#heartbeat-incidents). Safe with several replicas.
 */
export const sweepDeadAgents = commandOf(function* (unit, now, input: SweepInput): Decision<WorkOnMany> {
  const { agents, held } = yield* skipLockedAgents(unit, input.agents)
  yield* load(unit, { rows: { service_heartbeat: ["service"] } })
  if (isInGrace(unit.of("service_heartbeat").get("service"), now, input.rules)) return { count: 0, held: [] }
  const silent = agents.filter((agent) => isSilent(agent, deadSince(now, input.rules)))
  yield* load(unit, { openIncidents: silent.map((agent) => heartbeatRef(agent.agent_id)) })
  for (const agent of silent) {
    unit.putAgent(yield* openHeartbeatIncident(unit, agent, now, input.incidents))
  }
  return { count: silent.length, held }
})

interface SweepOptions {
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
  /** Agents per transaction. */
  readonly limit: number
}

/**
 * Opens the incidents of at most `limit` agents that have died, and returns how many. Skips locked
 * agents.
 */
export const sweepStaleAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { rules, incidents, limit }: SweepOptions,
): Effect.fn.Return<number, StorageError> {
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
