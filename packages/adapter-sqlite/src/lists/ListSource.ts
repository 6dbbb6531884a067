import type { ListFilters, ListName, ListRows } from "@tocsin/core/engine/lists/ListDefinitions"
import type { SQLInputValue } from "node:sqlite"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** A constant piece of a statement with the values of its parameters. */
export interface Fragment {
  readonly sql: string
  readonly values: ReadonlyArray<SQLInputValue>
}

/** A column that has one value in all rows that are asked for. */
export interface Fixed {
  readonly column: string
  readonly value: string | number
}

/** A leading column of a list's indexes, with the few values that it can have. */
export interface Partition {
  readonly column: string
  readonly values: ReadonlyArray<string | number>
}

/** Where the rows that a filter leaves are found. */
export interface Selection {
  /** The tables, of which the list's own is called `r`. */
  readonly from: Fragment
  readonly conditions: ReadonlyArray<Fragment>
  readonly fixed: ReadonlyArray<Fixed>
  /**
   * What stands before the order in the index that serves it. Where a filter leaves such a column open, each of its values
   * is read on its own and SQLite merges them: one index for each order serves every filter.
   */
  readonly partitions: ReadonlyArray<Partition>
}

/** Values that a table alone knows. */
export interface Occurring {
  /** The names of notifiers that outbox items are for. */
  readonly notifiers: ReadonlyArray<string>
}

/** Reads rows with a prepared statement. */
export type ReadRows<L extends ListName> = (
  values: ReadonlyArray<SQLInputValue>,
) => ReadonlyArray<ListRows[L]>

/** One list as the tables hold it. */
export interface ListSource<L extends ListName> {
  readonly columns: ReadonlyArray<string>
  readonly select: (filter: ListFilters[L], occurring: Occurring) => Selection
  /** Prepares a statement that selects `columns` first. */
  readonly prepare: (connection: SqliteConnection, sql: string) => ReadRows<L>
}

/** A list source of rows that `toRecord` reads. */
export const listSource = <L extends ListName, Row>(options: {
  readonly columns: ReadonlyArray<string>
  readonly select: (filter: ListFilters[L], occurring: Occurring) => Selection
  readonly toRecord: (row: Row) => ListRows[L]
}): ListSource<L> => ({
  columns: options.columns,
  select: options.select,
  prepare: (connection, sql) => {
    const statement = connection.query<Row>(sql)
    return (values) => statement.all(...values).map(options.toRecord)
  },
})
