import { Duration } from "effect"
import { heartbeat } from "../admission/heartbeat.ts"
import { applyBatch } from "../checks/applyBatch.ts"
import { type AgentId, KeyFingerprint, KeyHash, type RegistrationId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import type { HeartbeatRequest } from "../contract/Requests.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import { type IncidentOptions, incidentOptions, newId } from "../incidents/incidentOptions.ts"
import type { IncidentChangeRecord, IncidentRecord } from "../incidents/IncidentRecord.ts"
import { sweepDeadAgents } from "../liveness/sweepDeadAgents.ts"
import { MemoryTables } from "../memory/MemoryTables.ts"
import { transact } from "../memory/transact.ts"
import { compilePolicy } from "../policy/compilePolicy.ts"
import { claimOutbox } from "../notifications/claimOutbox.ts"
import type { DeliveryAttempt } from "../notifications/DeliveryAttempt.ts"
import { settleAttempt } from "../notifications/settleAttempt.ts"
import type { KeyIdentity } from "../ports/Hashing.ts"
import { countingIds } from "../ports/Ids.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { ResultsEntry } from "./readLines.ts"
import type { SimulationPorts } from "./SimulationReport.ts"

/** A notification, and when it would have been sent. */
export interface SentNotification {
  readonly at: Instant.Instant
  readonly notification: DeliveryAttempt
}

/** Shared by all keys, so that the settings accept agents on sight. */
const FINGERPRINT = KeyFingerprint.make("0".repeat(16))
/** The interval of housekeeping's sweep (docs/rules.md#heartbeat-incidents). */
const SWEEP_EVERY = 5_000_000n
const CLAIMED_AT_ONCE = 500
const LEASE = Duration.seconds(60)

/**
 * The service without its surroundings: the same commands on tables in memory, with a simulated
 * clock. Accepts every agent on sight, is never down, and delivers every notification at the first
 * attempt.
 */
export class SimulatedService {
  readonly incidents: Array<EndedIncident> = []
  readonly notifications: Array<SentNotification> = []
  changes = 0
  readonly #tables = new MemoryTables()
  readonly #ids = countingIds()
  readonly #keys = new Map<AgentId, KeyIdentity>()
  /** Agents with a known heartbeat: only these can fall silent. */
  readonly #watched = new Set<AgentId>()
  readonly #rules: RuleOptions
  readonly #ports: SimulationPorts
  readonly #options: IncidentOptions
  /** The time of the next sweep. */
  #sweepAt: Instant.Instant
  /** No agent dies before; absent if none can. */
  #quietUntil: Instant.Instant | undefined

  constructor(rules: RuleOptions, ports: SimulationPorts, start: Instant.Instant) {
    this.#rules = { ...rules, acceptFingerprints: new Set([FINGERPRINT]) }
    this.#ports = ports
    const policy = compilePolicy({}, rules.notifiers)
    this.#options = incidentOptions(this.#ids, { current: () => policy })
    this.#sweepAt = start
  }

  /** How many agents were seen. */
  get agents(): number {
    return this.#keys.size
  }

  /** Takes a heartbeat. */
  heartbeat(request: HeartbeatRequest, at: Instant.Instant): void {
    this.#watched.add(request.agent_id)
    this.#quietUntil ??= Instant.plus(at, this.#rules.deadAfter)
    this.#heartbeat(request, at)
  }

  /** Takes results. An agent without a known heartbeat registers first. */
  results({ agent_id, events, received_at: at }: ResultsEntry): void {
    if (!this.#keys.has(agent_id)) this.#heartbeat(registrationOf(agent_id), at)
    if (this.#watched.has(agent_id)) this.#quietUntil ??= Instant.plus(at, this.#rules.deadAfter)
    const { key_hash } = this.#keyOf(agent_id)
    const { sha256 } = this.#ports
    const request = { agent_id, events }
    const batch = this.#run(applyBatch({ request, key_hash, incidents: this.#options, sha256 }), at)
    if (batch.outcome !== "applied") throw new Error(`results of ${agent_id} were refused: ${batch.outcome}`)
    this.changes += batch.events.filter((outcome) => outcome === "changed").length
  }

  /** Advances the clock, and sweeps for agents that die until then. */
  passUntil(until: Instant.Instant): void {
    while (this.#quietUntil !== undefined) {
      const late = this.#quietUntil - this.#sweepAt
      if (late > 0n) this.#sweepAt = addSweeps(this.#sweepAt, (late + SWEEP_EVERY - 1n) / SWEEP_EVERY)
      if (this.#sweepAt > until) return
      this.#sweep(this.#sweepAt)
      this.#sweepAt = addSweeps(this.#sweepAt, 1n)
    }
  }

  /** Ends the simulation, and takes the open incidents. */
  end(): void {
    for (const incident of Array.from(this.#tables.incidents.values())) this.#take(incident)
  }

  #sweep(at: Instant.Instant): void {
    const since = Instant.minus(at, this.#rules.deadAfter)
    const silent: Array<AgentId> = []
    let oldest: Instant.Instant | undefined
    for (const agentId of this.#watched) {
      const agent = this.#tables.agents.get(agentId)
      if (agent === undefined || agent.heartbeat_incident_id !== undefined) continue
      if (agent.last_seen_at <= since) silent.push(agentId)
      else if (oldest === undefined || agent.last_seen_at < oldest) oldest = agent.last_seen_at
    }
    this.#quietUntil = oldest && Instant.plus(oldest, this.#rules.deadAfter)
    if (silent.length === 0) return
    const agents = silent.toSorted()
    this.#run(sweepDeadAgents({ rules: this.#rules, incidents: this.#options, agents }), at)
  }

  #heartbeat(request: HeartbeatRequest, at: Instant.Instant): void {
    const outcome = this.#run(
      heartbeat({
        request,
        key: this.#keyOf(request.agent_id),
        rules: this.#rules,
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
    // Invented: nobody presents this key.
    const key_hash = KeyHash.make(this.#keys.size.toString(16).padStart(64, "0"))
    const key = { key_hash, key_fingerprint: FINGERPRINT }
    this.#keys.set(agentId, key)
    return key
  }

  #run<A>(command: Command<A>, at: Instant.Instant): A {
    const { reply, changes } = transact(this.#tables, command, at)
    // Known event IDs stay; nothing reads the rows.
    this.#tables.history.clear()
    if (changes.outbox.length > 0) this.#deliver(at)
    for (const { after } of changes.incidents) if (after?.state === "resolved") this.#take(after)
    return reply
  }

  #deliver(at: Instant.Instant): void {
    const { notifiers } = this.#rules
    const claim = claimOutbox({ notifiers, limit: CLAIMED_AT_ONCE, lease: LEASE, random: 0 })
    for (;;) {
      const { reply: claimed } = transact(this.#tables, claim, at)
      if (claimed.length === 0) return
      for (const item of claimed) {
        this.notifications.push({ at, notification: item.notification })
        transact(this.#tables, settleAttempt(item.claim, { outcome: "delivered" }, 0), at)
      }
    }
  }

  /** Moves an incident out of the tables: a resolved one is never read again. */
  #take(incident: IncidentRecord): void {
    this.incidents.push(takeIncident(this.#tables, incident))
  }
}

const addSweeps = (at: Instant.Instant, count: bigint): Instant.Instant =>
  Instant.fromMicros(at + count * SWEEP_EVERY)

/** Older than any heartbeat, so that the fields of a real heartbeat replace these. */
const LONG_AGO = Instant.fromMicros(-62_135_596_800_000_000n)

const registrationOf = (agent_id: AgentId): HeartbeatRequest => ({
  agent_id,
  observed_at: LONG_AGO,
  hostname: agent_id,
  features: { push: true, metrics: false },
})

/** An incident in its final state, with its changes. */
export interface EndedIncident {
  readonly incident: IncidentRecord
  readonly changes: ReadonlyArray<IncidentChangeRecord>
}

/**
 * Moves an incident out of the tables with its members, notifications and changes, to keep them
 * small.
 */
const takeIncident = (tables: MemoryTables, incident: IncidentRecord): EndedIncident => {
  const { id } = incident
  const changes = tables.incidentChanges.get(id) ?? []
  for (const item of tables.outboxOfIncidents.get(id) ?? []) tables.outbox.delete(item)
  tables.outboxOfIncidents.delete(id)
  tables.incidentChanges.delete(id)
  tables.incidentActs.delete(id)
  tables.members.delete(id)
  tables.alerts.delete(id)
  tables.incidents.delete(id)
  return { incident, changes }
}
