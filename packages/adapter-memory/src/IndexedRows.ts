import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { TimerQueue } from "@tocsin/core/kernel/unitOfWork/TimerQueue"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"

/** Keys by the value of their rows. Most values have one key, which takes no set of its own. */
type KeysByValue = Map<string, string | Set<string>>

interface Index<Row> {
  readonly valueOf: (row: Row) => string | undefined
  readonly keys: KeysByValue
}

/** Rows by key that are also found by other values, in no particular order. */
export class IndexedRows<Row, Name extends string = never> extends Map<string, Row> {
  readonly #indexes = new Map<string, Index<Row>>()
  readonly #all: ReadonlyArray<Index<Row>>

  /** The functions give the value of a row in each index. A row without a value is not in that index. */
  constructor(valuesOf: Readonly<Record<Name, Index<Row>["valueOf"]>>) {
    super()
    // An object has its own names.
    for (const name of Object.keys(valuesOf) as Array<Name>)
      this.#indexes.set(name, { valueOf: valuesOf[name], keys: new Map() })
    this.#all = Array.from(this.#indexes.values())
  }

  of(name: Name, value: string): ReadonlyArray<Row> {
    const keys = this.#indexes.get(name)?.keys.get(value)
    if (keys === undefined) return []
    const rows: Array<Row> = []
    for (const key of typeof keys === "string" ? [keys] : keys) {
      const row = this.get(key)
      if (row !== undefined) rows.push(row)
    }
    return rows
  }

  valuesOf(name: Name): number {
    return this.#indexes.get(name)?.keys.size ?? 0
  }

  override set(key: string, row: Row): this {
    const before = this.get(key)
    for (const { keys, valueOf } of this.#all) {
      const former = before === undefined ? undefined : valueOf(before)
      const value = valueOf(row)
      // Most changes leave a row where it is.
      if (former === value) continue
      if (former !== undefined) removeKey(keys, former, key)
      if (value !== undefined) addKey(keys, value, key)
    }
    return super.set(key, row)
  }

  override delete(key: string): boolean {
    const row = this.get(key)
    if (row === undefined) return false
    for (const { keys, valueOf } of this.#all) {
      const value = valueOf(row)
      if (value !== undefined) removeKey(keys, value, key)
    }
    return super.delete(key)
  }

  override clear(): void {
    for (const { keys } of this.#all) keys.clear()
    super.clear()
  }
}

const addKey = (keys: KeysByValue, value: string, key: string): void => {
  const found = keys.get(value)
  if (found === undefined) keys.set(value, key)
  else if (typeof found === "string") keys.set(value, new Set([found, key]))
  else found.add(key)
}

const removeKey = (keys: KeysByValue, value: string, key: string): void => {
  const found = keys.get(value)
  if (found === key) keys.delete(value)
  if (typeof found !== "object") return
  found.delete(key)
  if (found.size === 0) keys.delete(value)
}

/** Of one moment, the least ID is found first. */
const itself = (id: string): string => id

/** Rows by ID that also know what of them is due when: a search reads no others. */
abstract class DueRows<Row, Name extends string = never> extends IndexedRows<Row, Name> {
  /** Notes when a row is due that has changed, is new, or is gone. */
  protected abstract note(before: Row | undefined, after: Row | undefined): void

  override set(id: string, row: Row): this {
    this.note(this.get(id), row)
    return super.set(id, row)
  }

  override delete(id: string): boolean {
    const row = this.get(id)
    if (row !== undefined) this.note(row, undefined)
    return super.delete(id)
  }

  override clear(): void {
    for (const row of this.values()) this.note(row, undefined)
    super.clear()
  }
}

const move = <Id extends string>(
  queue: TimerQueue<Id>,
  id: Id,
  from: Instant | undefined,
  to: Instant | undefined,
): void => {
  if (from !== to) queue.set(id, to)
}

interface Deliveries {
  /** When waiting items are due: those that claims take first, and the others. */
  readonly waiting: readonly [TimerQueue<OutboxId>, TimerQueue<OutboxId>]
  /** When the leases of items end that are being sent. */
  readonly leased: TimerQueue<OutboxId>
}

const waitsUntil = (item: OutboxRecord | undefined, isBackfill: boolean): Instant | undefined =>
  item?.is_backfill === isBackfill && (item.state === "pending" || item.state === "retry")
    ? item.next_attempt_at
    : undefined

const examinedAt = (item: OutboxRecord | undefined): Instant | undefined =>
  item?.state === "pending" || item?.state === "retry" ? item.next_evaluation_at : undefined

const evaluatedAt = (incident: IncidentRecord | undefined): Instant | undefined =>
  incident?.state === "open" ? incident.next_evaluation_at : undefined

export class OutboxRows extends DueRows<OutboxRecord, "group" | "incident_id"> {
  readonly receivers = new Map<NotifierName, Deliveries>()
  /** When held items are to be examined. */
  readonly held = new TimerQueue<OutboxId>(itself)

  constructor() {
    super({ group: () => undefined, incident_id: (item) => item.incident_id })
  }

  protected override note(before: OutboxRecord | undefined, after: OutboxRecord | undefined): void {
    const item = after ?? before
    if (item === undefined) return
    const { id, receiver } = item
    const { leased, waiting } = this.#deliveriesTo(receiver)
    move(waiting[0], id, waitsUntil(before, false), waitsUntil(after, false))
    move(waiting[1], id, waitsUntil(before, true), waitsUntil(after, true))
    move(leased, id, before?.leased_until, after?.leased_until)
    move(this.held, id, examinedAt(before), examinedAt(after))
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

  protected override note(before: IncidentRecord | undefined, after: IncidentRecord | undefined): void {
    const incident = after ?? before
    if (incident !== undefined) move(this.evaluations, incident.id, evaluatedAt(before), evaluatedAt(after))
  }
}
