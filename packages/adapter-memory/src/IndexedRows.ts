/** Rows by key, and by other values that find them. */
export class IndexedRows<Row, Name extends string = never> extends Map<string, Row> {
  readonly #indexes = new Map<string, Index<Row>>()

  /** The functions give the value of a row in each index. A row without a value is not in that index. */
  constructor(valuesOf: Readonly<Record<Name, Index<Row>["valueOf"]>>) {
    super()
    // An object has its own names.
    for (const name of Object.keys(valuesOf) as Array<Name>)
      this.#indexes.set(name, { valueOf: valuesOf[name], rows: new Map() })
  }

  /** The rows that have a value in an index. */
  of(name: Name, value: string): ReadonlyArray<Row> {
    return Array.from(this.#indexes.get(name)?.rows.get(value) ?? [])
  }

  /** How many values rows have in an index. */
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
