import type { EstablishedName } from "@tocsin/core/ports/Storage"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** Table `established`. */
export const makeEstablishedRows = (connection: SqliteConnection) => {
  const insert = connection.query(
    "INSERT INTO established (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
  )
  const byName = connection.query<[value: string]>("SELECT value FROM established WHERE name = ?")
  return {
    /** Keeps a value unless one is kept already. Returns the kept one. */
    establish: (name: EstablishedName, value: string): string => {
      insert.run(name, value)
      return byName.get(name)?.[0] ?? value
    },
  }
}
