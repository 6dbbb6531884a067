import type { Instant } from "@tocsin/contract/Instant"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable } from "./makeKeyedTable.ts"

/** Table `silence`. */
export const makeSilenceTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "silence")
  return {
    ...table,
    /** The silences that have begun by the first moment, and end after the second. */
    inForce: table.all<[now: Instant, endingAfter: Instant]>("WHERE starts_at <= ? AND ends_at > ?"),
    unended: table.all<[now: Instant]>("WHERE ends_at > ?"),
  }
}
