import type { MarkRecord } from "@tocsin/core/model/MarkRecord"
import { type EstablishedName, storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Table `mark`: the service's sign of life, in one row. */
export const makeMarkTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.mark)
  return {
    find: table.one<[MarkRecord["name"]]>("WHERE name = ?"),
    write: (mark: MarkRecord): void => table.write({ before: undefined, after: mark }),
  }
}

/** Table `established`: values that the first writer sets. */
export const makeEstablishedTable = (connection: SqliteConnection) => {
  const insert = connection.query(
    "INSERT INTO established (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
  )
  const byName = connection.query<[value: string]>("SELECT value FROM established WHERE name = ?")
  return {
    /** Stores a value unless one is stored, and returns the stored one. */
    establish: (name: EstablishedName, value: string): string => {
      insert.run(name, value)
      return byName.get(name)?.[0] ?? value
    },
  }
}
