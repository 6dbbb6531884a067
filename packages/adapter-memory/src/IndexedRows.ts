import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import { TimerQueue } from "@tocsin/core/unitOfWork/TimerQueue"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import { isHeld, type OutboxRecord } from "@tocsin/core/model/OutboxRecord"

export class IndexedRows<Row, Name extends string = never> extends Map<string, Row> {
  readonly #indexes = new Map<string, Index<Row>>()

  /** The functions give the value of a row in each index. A row without a value is not in that index. */
  constructor(valuesOf: Readonly<Record<Name, Index<Row>["valueOf"]>>) {
    super()
    // An object has its own names.
    for (const name of Object.keys(valuesOf) as Array<Name>)
      this.#indexes.set(name, { valueOf: valuesOf[name], rows: new Map() })
  }

  of(name: Name, value: string): ReadonlyArray<Row> {
    return Array.from(this.#indexes.get(name)?.rows.get(value) ?? [])
  }

  valuesOf(name: Name): number {
    return this.#indexes.get(name)?.rows.size ?? 0
  }

  override set(key: string, row: Row): this {
    const before = this.get(key)
    for (const index of this.#indexes.values()) {
      if (before !== undefined) removeFrom(index, before)
      const value = index.valueOf(row)
      if (value === undefined) continue
      const rows = index.rows.get(value)
      if (rows === undefined) index.rows.set(value, new Set([row]))
      else rows.add(row)
    }
    return super.set(key, row)
  }

  override delete(key: string): boolean {
    const row = this.get(key)
    if (row !== undefined) for (const index of this.#indexes.values()) removeFrom(index, row)
    return super.delete(key)
  }

  override clear(): void {
    for (const { rows } of this.#indexes.values()) rows.clear()
    super.clear()
  }
}

interface Index<Row> {
  readonly valueOf: (row: Row) => string | undefined
  readonly rows: Map<string, Set<Row>>
}

const removeFrom = <Row>({ rows, valueOf }: Index<Row>, row: Row): void => {
  const value = valueOf(row)
  const found = value === undefined ? undefined : rows.get(value)
  if (value === undefined || found === undefined) return
  found.delete(row)
  if (found.size === 0) rows.delete(value)
}

/** Of one moment, the least ID is found first. */
const itself = (id: string): string => id

/** Rows by ID that also know what of them is due when: a search reads no others. */
abstract class DueRows<Row, Name extends string = never> extends IndexedRows<Row, Name> {
  /** Notes when a row is due, or that it is gone. */
  protected abstract note(row: Row, isGone: boolean): void

  override set(id: string, row: Row): this {
    this.note(row, false)
    return super.set(id, row)
  }

  override delete(id: string): boolean {
    const row = this.get(id)
    if (row !== undefined) this.note(row, true)
    return super.delete(id)
  }

  override clear(): void {
    for (const row of this.values()) this.note(row, true)
    super.clear()
  }
}

interface Deliveries {
  /** When waiting items are due: those that claims take first, and the others. */
  readonly waiting: readonly [TimerQueue<OutboxId>, TimerQueue<OutboxId>]
  /** When the leases of items end that are being sent. */
  readonly leased: TimerQueue<OutboxId>
}

export class OutboxRows extends DueRows<OutboxRecord, "group" | "incident_id"> {
  readonly receivers = new Map<NotifierName, Deliveries>()
  /** When held items are to be examined. */
  readonly held = new TimerQueue<OutboxId>(itself)

  constructor() {
    super({ group: () => undefined, incident_id: (item) => item.incident_id })
  }

  protected override note(item: OutboxRecord, isGone: boolean): void {
    const { id, is_backfill, leased_until, next_evaluation_at, next_attempt_at, state } = item
    const ofItem = (isSo: boolean, at: Instant | undefined) => (isSo && !isGone ? at : undefined)
    const { leased, waiting } = this.#deliveriesTo(item.receiver)
    const isWaiting = state === "pending" || state === "retry"
    for (const [part, queue] of waiting.entries())
      queue.set(id, ofItem(isWaiting && part === Number(is_backfill), next_attempt_at))
    leased.set(id, ofItem(true, leased_until))
    this.held.set(id, ofItem(isHeld(item), next_evaluation_at))
  }

  /** The items due to these receivers; a receiver without items has nothing. */
  deliveriesOf(receivers: ReadonlyArray<NotifierName>): ReadonlyArray<Deliveries> {
    return Array.from(new Set(receivers)).flatMap((receiver) => this.receivers.get(receiver) ?? [])
  }

  #deliveriesTo(receiver: NotifierName): Deliveries {
    const known = this.receivers.get(receiver)
    if (known !== undefined) return known
    const created = {
      waiting: [new TimerQueue<OutboxId>(itself), new TimerQueue<OutboxId>(itself)] as const,
      leased: new TimerQueue<OutboxId>(itself),
    }
    this.receivers.set(receiver, created)
    return created
  }
}

export class IncidentRows extends DueRows<IncidentRecord> {
  /** When open incidents are to be evaluated. */
  readonly evaluations = new TimerQueue<IncidentId>(itself)

  constructor() {
    super({})
  }

  protected override note({ id, next_evaluation_at, state }: IncidentRecord, isGone: boolean): void {
    this.evaluations.set(id, state === "open" && !isGone ? next_evaluation_at : undefined)
  }
}
