import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { SQLInputValue } from "node:sqlite"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import { RowInserter } from "./RowInserter.ts"
import { upsert } from "./upsert.ts"

/** A column: what of a record it holds, and how that reads in the table where it does not stand there as it is. */
export interface Column<Row> {
  readonly name: string
  /** Compared by identity to find out whether it changed. */
  readonly of: (row: Row) => unknown
  readonly write?: (row: Row) => SQLInputValue
}

interface WrittenTable<Row> {
  readonly table: string
  readonly key: ReadonlyArray<Column<Row>>
  readonly rest: ReadonlyArray<Column<Row>>
}

const valueOf = <Row>({ of, write }: Column<Row>, row: Row): SQLInputValue => {
  if (write !== undefined) return write(row)
  // A column without `write` holds text, a number, a bigint or nothing.
  return (of(row) as SQLInputValue | undefined) ?? null
}

/**
 * Writes the rows of one table. An update names the columns that changed and no other: an index is written when a statement
 * names a column of it, whatever its value.
 */
export class RowWriter<Row> {
  readonly #connection: SqliteConnection
  readonly #table: WrittenTable<Row>
  readonly #upsert: Query<never>
  readonly #inserter: RowInserter<Row>
  readonly #remove: Query<never>
  /** By the columns that they name, a bit for each in the order of `rest`. */
  readonly #updates = new Map<number, Query<never>>()

  constructor(connection: SqliteConnection, table: WrittenTable<Row>) {
    const key = table.key.map(({ name }) => name)
    const rest = table.rest.map(({ name }) => name)
    this.#connection = connection
    this.#table = table
    this.#upsert = connection.query(upsert(table.table, [...rest, ...key], key))
    this.#inserter = new RowInserter(connection, {
      table: table.table,
      columns: [...rest, ...key],
      addValues: (row, values) => {
        for (const column of table.rest) values.push(valueOf(column, row))
        for (const column of table.key) values.push(valueOf(column, row))
      },
      replace: (row) => this.write({ before: undefined, after: row }),
    })
    this.#remove = connection.query(
      `DELETE FROM ${table.table} WHERE ${key.map((name) => `${name} = ?`).join(" AND ")}`,
    )
  }

  /** Inserts, updates or deletes a row; one that counts as new is written over any that is there. */
  write({ before, after }: Change<Row>): void {
    if (after === undefined) {
      if (before !== undefined) this.#remove.get(...this.#valuesOfKey(before))
    } else if (before === undefined) {
      const values = this.#table.rest.map((column) => valueOf(column, after))
      this.#upsert.get(...values, ...this.#valuesOfKey(after))
    } else this.#update(before, after)
  }

  /** Does the same for many rows; those that count as new come last. */
  writeAll(changes: ReadonlyArray<Change<Row>>): void {
    const added: Array<Row> = []
    for (const change of changes) {
      if (change.before === undefined && change.after !== undefined) added.push(change.after)
      else this.write(change)
    }
    this.#inserter.insert(added)
  }

  #update(before: Row, after: Row): void {
    const { key, rest } = this.#table
    const values: Array<SQLInputValue> = []
    let changed = 0
    for (const [index, column] of rest.entries()) {
      if (column.of(before) === column.of(after)) continue
      changed |= 1 << index
      values.push(valueOf(column, after))
    }
    if (changed === 0) return
    for (const column of key) values.push(valueOf(column, after))
    this.#updateOf(changed).get(...values)
  }

  #valuesOfKey(row: Row): ReadonlyArray<SQLInputValue> {
    return this.#table.key.map((column) => valueOf(column, row))
  }

  #updateOf(changed: number): Query<never> {
    const prepared = this.#updates.get(changed)
    if (prepared !== undefined) return prepared
    const { table, key, rest } = this.#table
    const assignments = rest
      .filter((_, index) => (changed & (1 << index)) !== 0)
      .map(({ name }) => `${name} = ?`)
    const update = this.#connection.query(
      `UPDATE ${table} SET ${assignments.join(", ")} WHERE ${key.map(({ name }) => `${name} = ?`).join(" AND ")}`,
    )
    this.#updates.set(changed, update)
    return update
  }
}
