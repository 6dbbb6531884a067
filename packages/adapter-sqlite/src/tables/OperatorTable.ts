import type { KeyHash } from "@tocsin/contract/Identifiers"
import type { OperatorName } from "@tocsin/contract/Operators"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Table `operator`: named operators. */
export const makeOperatorTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.operator)
  const ofToken = table.one<[KeyHash, KeyHash]>("WHERE token_hash = ? OR former_token_hash = ?")
  return {
    find: table.one<[OperatorName]>("WHERE name = ?"),
    ofToken: (hash: KeyHash) => ofToken(hash, hash),
    write: table.write,
  }
}
