/** A row whose value a transaction changed: inserted where there was none `before`, deleted where there is none `after`. */
export interface Change<Row> {
  readonly before: Row | undefined
  readonly after: Row | undefined
}

interface Entry<Row> {
  readonly before: Row | undefined
  after: Row | undefined
  /** Whether it was put or deleted, whatever came of it. */
  isTouched: boolean
}

type Entries<Row> = Map<string, Entry<Row>>

/** How the rows of a table are named and grouped. */
export interface TableOptions<Id, Row> {
  /** For messages. */
  readonly name: string
  readonly idOf: (row: Row) => Id
  /** Must map different ids of one part to different strings. */
  readonly keyOf: (id: Id) => string
  /** Parts the table by a column of its id, where joining it with the others at every look would cost the most. */
  readonly partOf?: (id: Id) => string
  /** What {@link Table.group} finds rows by; never changes in a row's life. */
  readonly groupsOf?: (row: Row) => ReadonlyArray<string>
}

const NONE: ReadonlyArray<never> = []

const isChange = ({ before, after }: Change<unknown>): boolean => before !== after

/**
 * The rows of one kind that a transaction has loaded, and what it made of them. Rows are immutable: a change puts
 * another row in place. Costs next to nothing while it is empty, as most tables of most transactions are.
 */
export class Table<Id, Row> {
  readonly #options: TableOptions<Id, Row>
  #parts: Map<string, Entries<Row>> | undefined
  // The part looked at last: rows of one agent are looked at in a row.
  #latestPart: Entries<Row> | undefined
  #latestName: string | undefined
  #touched: Array<Entry<Row>> | undefined
  // What rows were when a recording began, of those that were touched since.
  #recorded: Map<Entry<Row>, Row | undefined> | undefined
  // Made when a group is asked for first, and kept from then on.
  #groups: Map<string, Array<Entry<Row>>> | undefined

  constructor(options: TableOptions<Id, Row>) {
    this.#options = options
  }

  /** Whether the row, or its absence, is known. */
  isLoaded(id: Id): boolean {
    return this.#partOf(id)?.has(this.#options.keyOf(id)) ?? false
  }

  /** Tells what the storage holds for `id`. Ignored when already known: what this transaction made of it counts. */
  load(id: Id, row: Row | undefined): void {
    const part = this.#partOf(id) ?? this.#addPart(id)
    const key = this.#options.keyOf(id)
    if (part.has(key)) return
    const entry: Entry<Row> = { before: row, after: row, isTouched: false }
    part.set(key, entry)
    if (row !== undefined && this.#groups !== undefined) this.#addToGroups(this.#groups, entry, row)
  }

  /** The row as it stands in this transaction. Throws where the decision did not ask for it first. */
  get(id: Id): Row | undefined {
    return this.#known(id).after
  }

  /** Inserts or replaces a row; one that was not loaded counts as new, and storages write it over any they hold. */
  put(row: Row): void {
    const id = this.#options.idOf(row)
    const part = this.#partOf(id) ?? this.#addPart(id)
    const key = this.#options.keyOf(id)
    let entry = part.get(key)
    if (entry === undefined)
      part.set(key, (entry = { before: undefined, after: undefined, isTouched: false }))
    this.#touch(entry)
    const isNew = entry.after === undefined
    entry.after = row
    if (isNew && this.#groups !== undefined) this.#addToGroups(this.#groups, entry, row)
  }

  /** Deletes a row; nothing happens where there is none. */
  delete(id: Id): void {
    const entry = this.#known(id)
    const row = entry.after
    if (row === undefined) return
    this.#touch(entry)
    entry.after = undefined
    // A row that is put under this id later is another one, which may belong to other groups.
    if (this.#groups !== undefined) this.#removeFromGroups(this.#groups, entry, row)
  }

  /**
   * The rows of one group as they stand in this transaction, in no particular order. Where no row is ever deleted, `from`
   * leaves out as many as an earlier look found.
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

  /** Whether any row was put or deleted. */
  get isChanged(): boolean {
    return this.#touched !== undefined
  }

  /** The rows whose value is another than the loaded one, in the order in which they were first put or deleted. */
  changes(): ReadonlyArray<Change<Row>> {
    return this.#touched?.filter(isChange) ?? NONE
  }

  /**
   * Begins to record what one command of several changes; the result ends it and tells. Costs by that command's changes, not by
   * those of all commands before it. A recording that begins ends the one before.
   */
  record(): () => ReadonlyArray<Change<Row>> {
    const recorded = new Map<Entry<Row>, Row | undefined>()
    this.#recorded = recorded
    return () => {
      if (this.#recorded === recorded) this.#recorded = undefined
      return Array.from(recorded, ([{ after }, before]) => ({ before, after })).filter(isChange)
    }
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
    if (this.#recorded?.has(entry) === false) this.#recorded.set(entry, entry.after)
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
