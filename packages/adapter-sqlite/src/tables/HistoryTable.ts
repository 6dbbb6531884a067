import type { CheckRef, HistoryRecord } from "@tocsin/core/model/CheckRecord"
import type { AgentId, CheckId, EventId, RegistrationId } from "@tocsin/contract/Identifiers"
import type { StoredHistoryRecord } from "@tocsin/core/model/ListDefinitions"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Table `check_event`. */
export const makeHistoryTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.check_event)
  const known = connection.query<[CheckId]>(
    "SELECT check_id FROM check_event WHERE agent_id = ? AND event_id = ? AND registration_id = ?",
  )
  const anyKept = connection.query<[bigint]>(
    "SELECT 1 FROM check_event WHERE is_kept = 1 AND registration_id > '' LIMIT 1",
  )
  const replace = connection.query<never>(
    "UPDATE check_event SET is_kept = 0 WHERE registration_id = ? AND check_id = ? AND is_kept = 1",
  )
  const removeCheck = connection.query<never>(
    "DELETE FROM check_event WHERE registration_id = ? AND check_id = ?",
  )
  return {
    /** Which of these events are in the history of a registration, with their checks. */
    known: (
      agentId: AgentId,
      registrationId: RegistrationId,
      eventIds: ReadonlyArray<EventId>,
    ): ReadonlyMap<EventId, CheckId> => {
      const found = new Map<EventId, CheckId>()
      for (const eventId of eventIds) {
        const row = known.get(agentId, eventId, registrationId)
        if (row !== undefined) found.set(eventId, row[0])
      }
      return found
    },
    /**
     * Adds rows, which are numbered in their order. The row that retention kept because it was the
     * newest of its check loses that protection.
     */
    add: (rows: ReadonlyArray<HistoryRecord>): void => {
      if (rows.length > 0 && anyKept.get() !== undefined) {
        for (const { registration_id, check_id } of rows) replace.get(registration_id, check_id)
      }
      // SQLite numbers them, so the column is not written.
      table.insert(rows as ReadonlyArray<StoredHistoryRecord>)
    },
    removeCheck: (check: CheckRef): void => {
      removeCheck.get(check.registration_id, check.check_id)
    },
  }
}
