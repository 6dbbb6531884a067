import type { KeyHash } from "@tocsin/contract/Identifiers"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable } from "./makeKeyedTable.ts"

/** Table `operator`: named operators. */
export const makeOperatorTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "operator")
  const ofToken = table.one<[KeyHash, KeyHash]>("WHERE token_hash = ? OR former_token_hash = ?")
  return { ...table, ofToken: (hash: KeyHash) => ofToken(hash, hash) }
}
