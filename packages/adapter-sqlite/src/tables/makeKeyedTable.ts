import {
  type Groups,
  type KeyedName,
  type KeyedRows,
  keyedShape,
  type Keys,
} from "@tocsin/core/model/StoredTables"
import type { SQLInputValue } from "node:sqlite"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable, type Table } from "./makeTable.ts"

/** A table with its rows by key and, where it has groups, by group. */
export interface KeyedTable<N extends KeyedName> extends Table<KeyedRows[N]> {
  readonly find: (key: Keys[N]) => KeyedRows[N] | undefined
  readonly ofGroup: (group: Groups[N]) => ReadonlyArray<KeyedRows[N]>
}

/** Prepares a table as it is declared. `indexedBy` names the index of its groups where SQLite might choose another. */
export const makeKeyedTable = <N extends KeyedName>(
  connection: SqliteConnection,
  name: N,
  indexedBy = "",
): KeyedTable<N> => {
  const shape = keyedShape(name)
  const { group, groupedWithout, key } = shape
  const isGrouped = groupedWithout === undefined ? "TRUE" : `${groupedWithout} IS NULL`
  const table = makeTable(connection, shape)
  const byKey = table.one<ReadonlyArray<SQLInputValue>>(`WHERE ${areGiven(key)}`)
  const byGroup =
    group && table.all<ReadonlyArray<SQLInputValue>>(`${indexedBy} WHERE ${areGiven(group)} AND ${isGrouped}`)
  return {
    ...table,
    find: (named) => byKey(...valuesOf(key, named)),
    ofGroup: (named) => byGroup?.(...valuesOf(group ?? [], named)) ?? [],
  }
}

const areGiven = (columns: ReadonlyArray<string>): string =>
  columns.map((column) => `${column} = ?`).join(" AND ") || "TRUE"

/** A name is the value of its only column, or has several by name; columns of keys hold texts and numbers. */
const valuesOf = (columns: ReadonlyArray<string>, named: unknown): ReadonlyArray<SQLInputValue> =>
  columns.length === 1 && typeof named !== "object"
    ? [named as SQLInputValue]
    : columns.map((column) => (named as Readonly<Record<string, SQLInputValue>>)[column] ?? null)
