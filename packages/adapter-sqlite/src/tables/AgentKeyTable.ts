import type { BlacklistId } from "@tocsin/contract/Identifiers"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable } from "./makeKeyedTable.ts"

/** Table `agent_key`. Its blocked keys are the blacklist. */
export const makeAgentKeyTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "agent_key")
  return {
    ...table,
    findBlocked: table.one<[BlacklistId]>("WHERE blacklist_id = ? AND state = 'blocked'"),
  }
}
