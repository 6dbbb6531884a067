import { NO_TOPICS, type Topics } from "../topics/Topics.ts"
import type { Announcing, Finding } from "../model/TableShape.ts"
import type { IncidentRecord } from "../../heart/model/IncidentRecord.ts"
import type { NumberInput } from "../model/NumberInput.ts"

/** The changes of one command, as far as anyone listens for them: see `Commits`. */
export interface CommandChanges {
  readonly isWrite: boolean
  /** Whether it changed anything that delivery waits for: outbox items or alerts. */
  readonly isOutboxChanged: boolean
  /** The topics that clients with a stream must fetch again (docs/rules.md#live-views). */
  readonly topics: Topics
  /** The incidents that it opened or changed. */
  readonly incidents: ReadonlyArray<Change<IncidentRecord>>
  /** The results in order that it took, and the checks that it deleted (docs/rules.md#numbers). */
  readonly measured: ReadonlyArray<NumberInput>
}

export const NO_CHANGES: CommandChanges = {
  isWrite: false,
  isOutboxChanged: false,
  topics: NO_TOPICS,
  incidents: [],
  measured: [],
}

/** The changes of a command in which nothing is new but times. */
export const OTHER_CHANGES: CommandChanges = { ...NO_CHANGES, isWrite: true }

/** A changed row: inserted if there was none `before`, deleted if there is none `after`. */
export interface Change<Row> {
  readonly before: Row | undefined
  readonly after: Row | undefined
}

interface Entry<Row> {
  readonly before: Row | undefined
  after: Row | undefined
  /** Whether it was put or deleted, even without effect. */
  isTouched: boolean
}

type Entries<Row> = Map<string, Entry<Row>>

export interface TableOptions<Id, Row> extends Announcing<Row>, Finding<Id, Row> {
  /** For messages. */
  readonly name: string
  readonly idOf: (row: Row) => Id
  readonly keyOf: (id: Id) => string
}

/** How often rows changed, and which topics that concerns, for all tables of a unit of work together. */
export interface WriteCount {
  writes: number
  topics: Topics
}

const NONE: ReadonlyArray<never> = []

const isChange = ({ before, after }: Change<unknown>): boolean => before !== after

/**
 * The loaded rows of one kind and their changes. Rows are immutable: a change replaces a row. An
 * empty table, as most are, costs next to nothing.
 */
export class Table<Id, Row> {
  readonly #options: TableOptions<Id, Row>
  readonly #count: WriteCount
  /** How often rows of this table changed. */
  writes = 0
  #parts: Map<string, Entries<Row>> | undefined
  // Consecutive lookups usually concern one agent.
  #latestPart: Entries<Row> | undefined
  #latestName: string | undefined
  #touched: Array<Entry<Row>> | undefined
  // The former values of rows changed since the recording began.
  #recorded: Map<Entry<Row>, Row | undefined> | undefined
  #isRecording = false
  // Built when a group is first requested.
  #groups: Map<string, Array<Entry<Row>>> | undefined

  constructor(options: TableOptions<Id, Row>, count: WriteCount) {
    this.#options = options
    this.#count = count
  }

  /** Whether the row, or its absence, is known. */
  isLoaded(id: Id): boolean {
    return this.#partOf(id)?.has(this.#options.keyOf(id)) ?? false
  }

  /** Loads a row as stored. Ignored if already known: changes in this transaction win. */
  load(id: Id, row: Row | undefined): void {
    const part = this.#partOf(id) ?? this.#addPart(id)
    const key = this.#options.keyOf(id)
    if (part.has(key)) return
    const entry: Entry<Row> = { before: row, after: row, isTouched: false }
    part.set(key, entry)
    if (row !== undefined && this.#groups !== undefined) this.#addToGroups(this.#groups, entry, row)
  }

  /** The row as it stands in this transaction. Throws if the decision did not load it. */
  get(id: Id): Row | undefined {
    return this.#known(id).after
  }

  /** Inserts or replaces a row. One that was not loaded counts as new, and overwrites a stored one. */
  put(row: Row): void {
    const id = this.#options.idOf(row)
    const part = this.#partOf(id) ?? this.#addPart(id)
    const key = this.#options.keyOf(id)
    let entry = part.get(key)
    if (entry === undefined)
      part.set(key, (entry = { before: undefined, after: undefined, isTouched: false }))
    this.#touch(entry)
    if (entry.after !== row) this.#changing(entry.after, row)
    const isNew = entry.after === undefined
    entry.after = row
    if (isNew && this.#groups !== undefined) this.#addToGroups(this.#groups, entry, row)
  }

  delete(id: Id): void {
    const entry = this.#known(id)
    const row = entry.after
    if (row === undefined) return
    this.#touch(entry)
    this.#changing(row, undefined)
    entry.after = undefined
    // A row that is put under this ID later may belong to other groups.
    if (this.#groups !== undefined) this.#removeFromGroups(this.#groups, entry, row)
  }

  /**
   * The rows of one group in this transaction, in no particular order. If rows are never deleted,
   * `from` skips those that an earlier call returned.
   */
  group(name: string, from = 0): ReadonlyArray<Row> {
    if (this.#parts === undefined) return NONE
    this.#groups ??= this.#grouped(this.#parts)
    const entries = this.#groups.get(name) ?? NONE
    const rows: Array<Row> = []
    for (let at = from; at < entries.length; at++) {
      const row = entries[at]?.after
      if (row !== undefined) rows.push(row)
    }
    return rows
  }

  /** The rows whose value differs from the loaded one, in the order of their first change. */
  changes(): ReadonlyArray<Change<Row>> {
    return this.#touched?.filter(isChange) ?? NONE
  }

  /** Starts to record the changes of one command. A new recording ends the previous one. */
  beginRecording(): void {
    this.#isRecording = true
    this.#recorded = undefined
  }

  /** The changes since the recording began. The cost depends on these only. */
  recorded(): ReadonlyArray<Change<Row>> {
    if (this.#recorded === undefined) return NONE
    return Array.from(this.#recorded, ([{ after }, before]) => ({ before, after })).filter(isChange)
  }

  #changing(before: Row | undefined, after: Row | undefined): void {
    const { topicsOf } = this.#options
    this.writes += 1
    this.#count.writes += 1
    if (topicsOf !== undefined) this.#count.topics |= topicsOf(before, after)
  }

  #partOf(id: Id): Entries<Row> | undefined {
    const name = this.#nameOfPart(id)
    if (this.#latestPart !== undefined && name === this.#latestName) return this.#latestPart
    this.#latestPart = this.#parts?.get(name)
    this.#latestName = name
    return this.#latestPart
  }

  #addPart(id: Id): Entries<Row> {
    const part: Entries<Row> = new Map()
    this.#parts ??= new Map()
    this.#parts.set(this.#nameOfPart(id), part)
    return part
  }

  #nameOfPart(id: Id): string {
    const { partOf } = this.#options
    return partOf === undefined ? "" : partOf(id)
  }

  #known(id: Id): Entry<Row> {
    const key = this.#options.keyOf(id)
    const entry = this.#partOf(id)?.get(key)
    if (entry === undefined)
      throw new Error(`${this.#options.name} ${key} was decided on without being loaded`)
    return entry
  }

  #touch(entry: Entry<Row>): void {
    if (this.#isRecording) {
      this.#recorded ??= new Map()
      if (!this.#recorded.has(entry)) this.#recorded.set(entry, entry.after)
    }
    if (entry.isTouched) return
    entry.isTouched = true
    if (this.#touched === undefined) this.#touched = [entry]
    else this.#touched.push(entry)
  }

  #grouped(parts: Map<string, Entries<Row>>): Map<string, Array<Entry<Row>>> {
    const groups = new Map<string, Array<Entry<Row>>>()
    for (const part of parts.values()) {
      for (const entry of part.values()) {
        if (entry.after !== undefined) this.#addToGroups(groups, entry, entry.after)
      }
    }
    return groups
  }

  #addToGroups(groups: Map<string, Array<Entry<Row>>>, entry: Entry<Row>, row: Row): void {
    for (const name of this.#options.groupsOf?.(row) ?? NONE) {
      const group = groups.get(name)
      if (group === undefined) groups.set(name, [entry])
      else group.push(entry)
    }
  }

  #removeFromGroups(groups: Map<string, Array<Entry<Row>>>, entry: Entry<Row>, row: Row): void {
    for (const name of this.#options.groupsOf?.(row) ?? NONE) {
      const group = groups.get(name)
      group?.splice(group.indexOf(entry), 1)
    }
  }
}
