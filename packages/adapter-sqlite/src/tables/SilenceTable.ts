import type { SilenceId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Table `silence`. */
export const makeSilenceTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.silence)
  return {
    find: table.one<[SilenceId]>("WHERE id = ?"),
    /** The silences that have begun by the first moment, and end after the second. */
    inForce: table.all<[now: Instant, endingAfter: Instant]>("WHERE starts_at <= ? AND ends_at > ?"),
    unended: table.all<[now: Instant]>("WHERE ends_at > ?"),
    write: table.write,
  }
}
