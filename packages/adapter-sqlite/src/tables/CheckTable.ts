import type { CheckRecord, CheckRef } from "@tocsin/core/model/CheckRecord"
import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Table `check_state`. */
export const makeCheckTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.check_state)
  const byRef = table.one("WHERE agent_id = ? AND check_id = ? AND registration_id = ?")
  return {
    find: (ref: CheckRef): CheckRecord | undefined => byRef(ref.agent_id, ref.check_id, ref.registration_id),
    /** The check of an agent's present registration. */
    ofAgent: table.one<[AgentId, CheckId]>(
      `WHERE agent_id = ?1 AND check_id = ?2
        AND registration_id = (SELECT registration_id FROM agent WHERE agent_id = ?1)`,
    ),
    write: table.write,
  }
}
