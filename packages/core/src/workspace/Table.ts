/** A row whose value a transaction changed: inserted where there was none `before`, deleted where there is none `after`. */
export interface Change<Row> {
  readonly before: Row | undefined
  readonly after: Row | undefined
}

interface Entry<Row> {
  readonly before: Row | undefined
  after: Row | undefined
}

interface TableOptions<Id, Row> {
  /** For messages. */
  readonly name: string
  readonly idOf: (row: Row) => Id
  /** Must map different ids to different strings. */
  readonly toKey: (id: Id) => string
  /** What {@link Table.group} finds rows by; never changes in a row's life. */
  readonly groupsOf?: (row: Row) => ReadonlyArray<string>
}

/**
 * The rows of one kind that a transaction has loaded, and what it made of them. Rows are immutable: a change puts
 * another row in place.
 */
export class Table<Id, Row> {
  readonly #entries = new Map<string, Entry<Row>>()
  readonly #groups = new Map<string, Set<string>>()
  readonly #options: TableOptions<Id, Row>
  #isChanged = false

  constructor(options: TableOptions<Id, Row>) {
    this.#options = options
  }

  /** Whether the row, or its absence, is known. */
  isLoaded(id: Id): boolean {
    return this.#entries.has(this.#options.toKey(id))
  }

  /** Tells what the storage holds for `id`. Ignored when already known: what this transaction made of it counts. */
  load(id: Id, row: Row | undefined): void {
    const key = this.#options.toKey(id)
    if (this.#entries.has(key)) return
    this.#entries.set(key, { before: row, after: row })
    if (row !== undefined) this.#index(key, row)
  }

  /** The row as it stands in this transaction. Throws where the decision did not ask for it first. */
  get(id: Id): Row | undefined {
    return this.#entry(id).after
  }

  /** Inserts or replaces a row; one that was not loaded counts as new, and storages write it over any they hold. */
  put(row: Row): void {
    this.#isChanged = true
    const key = this.#options.toKey(this.#options.idOf(row))
    const entry = this.#entries.get(key)
    if (entry === undefined) this.#entries.set(key, { before: undefined, after: row })
    else entry.after = row
    this.#index(key, row)
  }

  /** Deletes a row; nothing happens where there is none. */
  delete(id: Id): void {
    const entry = this.#entry(id)
    if (entry.after === undefined) return
    this.#isChanged = true
    // A row that is put under this id later is another one, which may belong to other groups.
    for (const name of this.#groupsOf(entry.after)) this.#groups.get(name)?.delete(this.#options.toKey(id))
    entry.after = undefined
  }

  /** The rows of one group as they stand in this transaction, in the order in which they were loaded or put. */
  group(name: string): ReadonlyArray<Row> {
    const rows: Array<Row> = []
    for (const key of this.#groups.get(name) ?? []) {
      const row = this.#entries.get(key)?.after
      if (row !== undefined) rows.push(row)
    }
    return rows
  }

  /** Whether any row was put or deleted. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  /** The rows whose value is another than the loaded one, in the order in which they were loaded or put. */
  changes(): ReadonlyArray<Change<Row>> {
    return Array.from(this.#entries.values()).filter(({ before, after }) => before !== after)
  }

  #entry(id: Id): Entry<Row> {
    const key = this.#options.toKey(id)
    const entry = this.#entries.get(key)
    if (entry === undefined)
      throw new Error(`${this.#options.name} ${key} was decided on without being loaded`)
    return entry
  }

  #groupsOf(row: Row): ReadonlyArray<string> {
    return this.#options.groupsOf?.(row) ?? []
  }

  #index(key: string, row: Row): void {
    for (const name of this.#groupsOf(row)) {
      const group = this.#groups.get(name)
      if (group === undefined) this.#groups.set(name, new Set([key]))
      else group.add(key)
    }
  }
}
