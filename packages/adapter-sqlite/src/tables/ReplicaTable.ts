import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Table `replica`: processes of the service. */
export const makeReplicaTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.replica)
  return { all: table.all<[]>(""), write: table.write }
}
