import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable } from "./makeKeyedTable.ts"

/** Table `policy_version`: policies that were applied. */
export const makePolicyVersionTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "policy_version")
  return {
    ...table,
    after: table.all<[version: number, limit: number]>("WHERE version > ? ORDER BY version DESC LIMIT ?"),
  }
}
