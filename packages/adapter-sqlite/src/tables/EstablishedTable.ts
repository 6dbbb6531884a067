import type { EstablishedName } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

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
