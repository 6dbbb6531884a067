import { acknowledge, type AcknowledgeInput, withdraw } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { Duration } from "effect"
import { heartbeat } from "@tocsin/core/heart/admission/heartbeat"
import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import { applyBatch } from "@tocsin/core/heart/checks/applyBatch"
import {
  type AgentId,
  type IncidentId,
  KeyFingerprint,
  KeyHash,
  type RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import { type OverrideId } from "@tocsin/contract/onCall/Rotas"
import { type SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { type Command, commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { type IncidentOptions, incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import type { IncidentRef } from "@tocsin/core/heart/model/IncidentRecord"
import {
  openHeartbeatIncident,
  resolveHeartbeatIncident,
  sweepDeadAgents,
} from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { compilePolicy, type Policy } from "@tocsin/core/heart/policy/compilePolicy"
import type { KeyIdentity } from "@tocsin/core/kernel/ports/Hashing"
import { countingIds, newId } from "@tocsin/core/kernel/ports/Ids"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import type { SilenceRecord } from "@tocsin/core/heart/model/SilenceRecord"
import { evaluateIncidents } from "@tocsin/core/heart/evaluation/evaluateIncidents"
import { DueWork } from "./DueWork.ts"
import { TrialChecks, type PastResults } from "./TrialChecks.ts"
import { SimulatedCommits, type SimulationListener, type HeldFiring } from "./SimulatedCommits.ts"
import type { ResultsEntry } from "./readLines.ts"
import { sha256 } from "@tocsin/adapter-crypto/NodeHashing"
import { labelChecks, type KnownAgent, registrationOf } from "./registrationOf.ts"

/** Names open incidents; lines of people name no kind. */
type SimulatedKey = Pick<IncidentRef, "incident_key"> & Partial<Pick<IncidentRef, "kind">>

/** Shared by all keys, so that the settings accept agents on sight. */
const FINGERPRINT = KeyFingerprint.make("0".repeat(16))
/** The interval of housekeeping's work on what is due by time. */
const TICK = 5_000_000n

/**
 * The service without its surroundings: the same commands on tables in memory, with a simulated
 * clock. Accepts every agent on sight, is never down, and delivers every notification at the first
 * attempt.
 */
export class SimulatedService {
  changes = 0
  readonly #tables = new MemoryTables()
  readonly #due: DueWork
  readonly #commits: SimulatedCommits
  readonly #ids = countingIds()
  readonly #keys = new Map<AgentId, KeyIdentity>()
  readonly #past = new TrialChecks()
  /** Agents with a known heartbeat: only these can fall silent. */
  readonly #watched = new Set<AgentId>()
  readonly #rules: RuleOptions
  readonly #options: IncidentOptions
  /** The next time of work on what is due. */
  #tickAt: Instant.Instant
  /** When all open incidents are to be evaluated, because a silence has changed. */
  #evaluateAllAt: Instant.Instant | undefined
  /** After which silences an agent is another parent: as a stale one, if it may be, and as a dead one. */
  readonly #silences: readonly [Duration.Duration, ...ReadonlyArray<Duration.Duration>]
  /** No agent is silent for as long before; absent if none can be. */
  #quietUntil: Instant.Instant | undefined

  constructor(
    rules: RuleOptions,
    { listener, start }: { readonly listener: SimulationListener; readonly start: Instant.Instant },
  ) {
    const { deadAfter } = rules
    // A dead agent is stale, whatever the setting beside another `deadAfter` than the service has.
    const staleAfter = Duration.min(rules.staleAfter, deadAfter)
    this.#rules = { ...rules, staleAfter, acceptFingerprints: new Set([FINGERPRINT]) }
    const policy = compilePolicy(rules.policy, rules.notifiers, rules.notifierKinds)
    const inForce = { current: () => policy, inForceSince: () => start }
    this.#options = incidentOptions(this.#ids, inForce, this.#rules, { sha256 })
    this.#silences = policy.dependencies?.takesStale === true ? [staleAfter, deadAfter] : [deadAfter]
    this.#due = new DueWork(this.#tables, policy, this.#watched)
    this.#commits = new SimulatedCommits(this.#tables, this.#due, { ...this.#options, listener })
    this.#tickAt = start
  }

  get policy(): Policy {
    return this.#options.policy()
  }

  get agents(): number {
    return this.#keys.size
  }

  /** Registers an agent of which no heartbeat is known. */
  register(agent: KnownAgent, at: Instant.Instant): void {
    this.#heartbeat(registrationOf(agent), at)
    if (agent.labelled !== undefined) this.#commits.run(labelChecks(agent.agent_id, agent.labelled), at)
  }

  heartbeat(request: HeartbeatRequest, at: Instant.Instant): void {
    this.#watched.add(request.agent_id)
    this.#quietUntil ??= Instant.plus(at, this.#silences[0])
    this.#heartbeat(request, at)
  }

  /** Takes results. An agent without a known heartbeat registers first. */
  results({ agent_id, events, received_at: at }: ResultsEntry): void {
    if (!this.#keys.has(agent_id)) this.register({ agent_id, hostname: agent_id }, at)
    if (this.#watched.has(agent_id)) this.#quietUntil ??= Instant.plus(at, this.#silences[0])
    const { key_hash } = this.#keyOf(agent_id)
    const request = { agent_id, events }
    const batch = this.#commits.run(applyBatch({ request, key_hash, incidents: this.#options }), at)
    if (batch.outcome !== "applied") throw new Error(`results of ${agent_id} were refused: ${batch.outcome}`)
    this.changes += batch.events.filter((outcome) => outcome === "changed").length
  }

  /** Opens the heartbeat incident of an agent that died, or resolves that of one that returned, unless results did. */
  turned(agentId: AgentId, state: "died" | "returned", at: Instant.Instant): void {
    this.#commits.run(turnAgent(agentId, state, this.#options), at)
  }

  /** Applies results that a service has stored to incidents. Keeps nothing else of them. */
  follow(results: PastResults, at: Instant.Instant): void {
    const isDead = this.#tables.agents.get(results.agent_id)?.heartbeat_incident_id !== undefined
    if (!isDead && !this.#past.isMoved(results)) return
    this.#commits.run(this.#past.follow(results, this.#options), at)
  }

  /** Drops what only reports show, to stay small: the timelines of incidents. */
  forget(): void {
    const { incidentLog, incidentChanges } = this.#tables
    for (const rows of [incidentLog, incidentChanges]) rows.clear()
  }

  /** Acknowledges the open incidents of a key, or the one of a kind, and returns what became of each. */
  acknowledge(
    key: SimulatedKey,
    { by, ...given }: Omit<AcknowledgeInput, "id"> & { readonly by: Signature },
    at: Instant.Instant,
  ) {
    return this.#openIncidents(key).map((id) => this.#commits.run(acknowledge({ id, ...given }, by), at))
  }

  /** Withdraws the acknowledgements of these incidents, and returns how many. */
  withdraw(key: SimulatedKey, by: Signature, at: Instant.Instant): number {
    return this.#openIncidents(key).reduce(
      (sum, id) => sum + (this.#commits.run(withdraw(id, by), at) ?? 0),
      0,
    )
  }

  /** Puts a silence in force whose end is known, forgets those that have ended, and has what it holds evaluated soon. */
  began(silence: SilenceRecord, at: Instant.Instant): void {
    const silences = this.#tables.keyed.silence
    for (const { ends_at, id } of Array.from(silences.values())) if (ends_at <= at) silences.delete(id)
    silences.set(silence.id, silence)
    if (this.policy.hasTimers) this.#evaluateAllAt ??= at
  }

  /** Puts an override of a rota in force whose end is known, and has what it changes evaluated soon. */
  overridden(override: RotaOverrideRecord, at: Instant.Instant): void {
    this.#tables.keyed.rota_override.set(override.id, override)
    if (this.policy.rotas !== undefined) this.#evaluateAllAt ??= at
  }

  newId<Id extends OverrideId | SilenceId>(at: Instant.Instant): Id {
    return newId<Id>(this.#ids)(at)
  }

  /** Does something about silences or overrides, and has what they change evaluated soon. */
  act<A>(command: Command<A>, at: Instant.Instant): A {
    const reply = this.#commits.run(command, at)
    if (this.policy.hasTimers) this.#evaluateAllAt ??= at
    return reply
  }

  passUntil(until: Instant.Instant): void {
    for (let due = this.#nextDue; due !== undefined && due <= until; due = this.#nextDue) {
      const tick = tickFrom(this.#tickAt, due)
      if (tick > until) break
      this.#tickAt = tickAfter(tick)
      this.#tick(tick)
    }
    const last = tickFrom(this.#tickAt, until)
    this.#tickAt = last === until ? tickAfter(last) : last
  }

  /** Ends the simulation, and takes the open incidents. Returns the firings that are still held. */
  end(): ReadonlyArray<HeldFiring> {
    return this.#commits.end()
  }

  #openIncidents({ incident_key, kind }: SimulatedKey): ReadonlyArray<IncidentId> {
    const { openIncidents } = this.#tables
    const kinds = kind === undefined ? (["named", "automatic"] as const) : [kind]
    return kinds.map((each) => openIncidents[each].get(incident_key)).filter((id) => id !== undefined)
  }

  get #nextDue(): Instant.Instant | undefined {
    const due = [this.#quietUntil, this.#evaluateAllAt, this.#due.nextEvaluation]
    return Instant.earliest(due)
  }

  #tick(at: Instant.Instant): void {
    if (this.#quietUntil !== undefined && this.#quietUntil <= at) this.#sweep(at)
    const { nextEvaluation } = this.#due
    if (this.#evaluateAllAt !== undefined && this.#evaluateAllAt <= at) this.#evaluateAll(at)
    if (nextEvaluation !== undefined && nextEvaluation <= at)
      this.#evaluate(this.#due.takeEvaluations(at), at)
  }

  #evaluateAll(at: Instant.Instant): void {
    this.#evaluateAllAt = undefined
    const open = Array.from(this.#tables.incidents.values()).filter(({ state }) => state === "open")
    this.#evaluate(
      open.map(({ id }) => id),
      at,
    )
  }

  #evaluate(ids: ReadonlyArray<IncidentId>, at: Instant.Instant): void {
    let left = ids
    while (left.length > 0) ({ left } = this.#commits.run(evaluateIncidents(this.#options, left), at))
  }

  #sweep(at: Instant.Instant): void {
    const silent: Array<AgentId> = []
    const next: Array<Instant.Instant> = []
    for (const agentId of this.#watched) {
      const agent = this.#tables.agents.get(agentId)
      if (agent === undefined || agent.heartbeat_incident_id !== undefined) continue
      const ends = this.#silences.map((silence) => Instant.plus(agent.last_seen_at, silence))
      const end = ends.find((time) => time > at)
      if (end === undefined) silent.push(agentId)
      else next.push(end)
      // It is stale: firings may have another parent.
      if (end !== ends[0]) this.#due.examineAll(at)
    }
    this.#quietUntil = Instant.earliest(next)
    if (silent.length === 0) return
    const agents = silent.toSorted()
    this.#commits.run(sweepDeadAgents({ rules: this.#rules, incidents: this.#options, agents }), at)
  }

  #heartbeat(request: HeartbeatRequest, at: Instant.Instant): void {
    const { watchAgent: _, ...rules } = this.#rules
    const outcome = this.#commits.run(
      heartbeat({
        request,
        key: this.#keyOf(request.agent_id),
        rules,
        mayRegister: true,
        incidents: this.#options,
        newRegistrationId: newId<RegistrationId>(this.#ids),
      }),
      at,
    )
    if (outcome !== "seen" && outcome !== "preseeded")
      throw new Error(`a heartbeat of ${request.agent_id} was not taken: ${outcome}`)
  }

  #keyOf(agentId: AgentId): KeyIdentity {
    const known = this.#keys.get(agentId)
    if (known !== undefined) return known
    // Invented: no agent presents this key.
    const key_hash = KeyHash.make(this.#keys.size.toString(16).padStart(64, "0"))
    const key = { key_hash, key_fingerprint: FINGERPRINT }
    this.#keys.set(agentId, key)
    return key
  }
}

const turnAgent = commandOf(function* (
  unit,
  agentId: AgentId,
  state: "died" | "returned",
  options: IncidentOptions,
) {
  yield* load(unit, { agents: [agentId] })
  const agent = unit.agents.get(agentId)
  const isDead = agent?.heartbeat_incident_id !== undefined
  if (agent === undefined || isDead === (state === "died")) return
  const decide = isDead ? resolveHeartbeatIncident : openHeartbeatIncident
  unit.putAgent(yield* decide(unit, agent, options))
})

const tickAfter = (tick: Instant.Instant): Instant.Instant => Instant.fromMicros(tick + TICK)

/** The first tick at or after a moment, of those from `tick` on. */
const tickFrom = (tick: Instant.Instant, at: Instant.Instant): Instant.Instant =>
  at <= tick ? tick : Instant.fromMicros(tick + ((at - tick + TICK - 1n) / TICK) * TICK)
