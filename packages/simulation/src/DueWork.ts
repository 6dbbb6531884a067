import type { Duration } from "effect"
import type { AgentId, IncidentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { type Asked, type Found, isSearch, type WithIncident } from "@tocsin/core/kernel/unitOfWork/Search"
import type { Step } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import type { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { answerFrom } from "@tocsin/adapter-memory/transact"
import { changesParents } from "@tocsin/core/heart/firings/parents"
import { isHeld, type OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { Policy } from "@tocsin/core/heart/policy/compilePolicy"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentKind, IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"

/**
 * When the incidents of each key were opened, for as long as a policy counts them. The incidents
 * themselves are gone once they have resolved.
 */
class KeyOpenings {
  readonly #within: Duration.Duration
  /** The latest last. */
  readonly #openings: Readonly<Record<IncidentKind, Map<IncidentKey, ReadonlyArray<Instant.Instant>>>> = {
    automatic: new Map(),
    named: new Map(),
  }

  constructor(within: Duration.Duration) {
    this.#within = within
  }

  note({ incident_key, kind, opened_at }: IncidentRecord): void {
    const known = this.#openings[kind].get(incident_key) ?? []
    const since = Instant.minus(opened_at, this.#within)
    this.#openings[kind].set(incident_key, [...known.filter((at) => at > since), opened_at])
  }

  find(asked: Asked<"openings">): Found<"openings"> {
    return new Map(
      asked.map(({ incident: { id, incident_key, kind }, limit, since, until }) => [
        id,
        (this.#openings[kind].get(incident_key) ?? [])
          .filter((at) => at > since && at <= until)
          .slice(-limit)
          .toReversed(),
      ]),
    )
  }
}

/** The due times of a simulated service's work. */
export class DueWork {
  readonly #tables: MemoryTables
  readonly #openings: KeyOpenings | undefined
  readonly #hasParents: boolean
  /** Agents with a known heartbeat: others are never stale. */
  readonly #watched: ReadonlySet<AgentId>
  /** When every held firing is examined. */
  #passAt: Instant.Instant | undefined

  constructor(
    tables: MemoryTables,
    { dependencies, flapping }: Pick<Policy, "dependencies" | "flapping">,
    watched: ReadonlySet<AgentId>,
  ) {
    this.#tables = tables
    this.#hasParents = dependencies !== undefined
    this.#watched = watched
    this.#openings = flapping && new KeyOpenings(flapping.within)
  }

  get #outbox() {
    return this.#tables.keyed.outbox
  }

  /** Takes the notifications that are due, with their incidents. Each must be sent or held. */
  take(now: Instant.Instant): ReadonlyArray<WithIncident<OutboxRecord>> {
    const { incidents } = this.#tables
    const outbox = this.#outbox
    const found: Array<WithIncident<OutboxRecord>> = []
    for (const { waiting } of outbox.receivers.values()) {
      for (const id of waiting.flatMap((queue) => queue.take(now))) {
        const row = outbox.get(id)
        const incident = row && incidents.get(row.incident_id)
        if (row !== undefined && incident !== undefined) found.push({ row, incident })
      }
    }
    return found
  }

  get nextEvaluation(): Instant.Instant | undefined {
    const { evaluations } = this.#tables.incidents
    const times = [evaluations.next, this.#outbox.held.next, this.#passAt]
    return Instant.earliest(times)
  }

  note(
    { change_stamp, incident }: Pick<UnitOfWorkChanges, "change_stamp" | "incident">,
    now: Instant.Instant,
  ): void {
    const isParent = this.#hasParents && incident.some(changesParents)
    if (isParent || change_stamp.length > 0) this.examineAll(now)
    if (this.#openings === undefined) return
    for (const { after, before } of incident)
      if (before === undefined && after !== undefined) this.#openings.note(after)
  }

  /** Has every held firing examined soon: something changed that all holds may depend on. */
  examineAll(now: Instant.Instant): void {
    this.#passAt ??= now
  }

  /** Answers a step of a decision. Resolved incidents are gone, and agents without a heartbeat are no parents. */
  answer(unit: UnitOfWork, step: Step, now: Instant.Instant): unknown {
    if (this.#openings !== undefined && isSearch(step, "openings")) return this.#openings.find(step.asked)
    const found = answerFrom(this.#tables, unit, step, now)
    if (!isSearch(step, "parents")) return found
    // The memory storage finds this by its name.
    const { agents, incidents } = found as Found<"parents">
    return { incidents, agents: agents.filter(({ agent_id }) => this.#watched.has(agent_id)) }
  }

  /** Takes the incidents that are due for an evaluation, or have a held firing that is. */
  takeEvaluations(now: Instant.Instant): ReadonlyArray<IncidentId> {
    const outbox = this.#outbox
    if (this.#passAt !== undefined) for (const id of Array.from(outbox.held.keys())) outbox.held.set(id, now)
    this.#passAt = undefined
    const due = this.#tables.incidents.evaluations.due(now, Number.MAX_SAFE_INTEGER, (id) => id)
    const taken = outbox.held.take(now).flatMap((id) => outbox.get(id) ?? [])
    // One that is examined early, and stays as it is, is examined again when its holds end.
    for (const item of taken)
      if (isHeld(item)) outbox.held.set(item.id, laterThan(now, item.next_evaluation_at))
    return Array.from(new Set([...due, ...taken.map(({ incident_id }) => incident_id)]))
  }
}

const laterThan = (now: Instant.Instant, at: Instant.Instant | undefined): Instant.Instant | undefined =>
  at !== undefined && at > now ? at : undefined
