import type { CheckRef, HistoryRecord } from "@tocsin/core/checks/CheckRecord"
import type { StoredHistoryRecord } from "@tocsin/core/engine/lists/ListDefinitions"
import type { AgentId, CheckId, EventId, RegistrationId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { SQLInputValue } from "node:sqlite"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { RowInserter } from "./RowInserter.ts"

const WRITTEN = [
  "agent_id",
  "registration_id",
  "check_id",
  "event_id",
  "observed_at",
  "received_at",
  "status",
  "exit_code",
  "duration_ms",
  "output_truncated",
  "notifications_enabled",
  "incident_key",
  "output",
] as const

/** The columns of a history row, in the order of {@link HistoryRow}. */
export const HISTORY_COLUMNS = [...WRITTEN, "seq"]

export type HistoryRow = readonly [
  agent_id: AgentId,
  registration_id: RegistrationId,
  check_id: HistoryRecord["check_id"],
  event_id: EventId,
  observed_at: Instant,
  received_at: Instant,
  status: HistoryRecord["status"],
  exit_code: bigint,
  duration_ms: bigint,
  output_truncated: bigint,
  notifications_enabled: bigint,
  incident_key: Exclude<HistoryRecord["incident_key"], undefined> | null,
  output: string | null,
  seq: bigint,
]

/** The record of a row that `HISTORY_COLUMNS` selected; what the event left out is absent. */
export const toHistory = (row: HistoryRow): StoredHistoryRecord => ({
  agent_id: row[0],
  registration_id: row[1],
  check_id: row[2],
  event_id: row[3],
  observed_at: row[4],
  received_at: row[5],
  status: row[6],
  exit_code: Number(row[7]),
  duration_ms: Number(row[8]),
  output_truncated: row[9] === 1n,
  notifications_enabled: row[10] === 1n,
  ...(row[11] !== null && { incident_key: row[11] }),
  ...(row[12] !== null && { output: row[12] }),
  seq: Number(row[13]),
})

const addValues = (row: HistoryRecord, values: Array<SQLInputValue>): void => {
  values.push(
    row.agent_id,
    row.registration_id,
    row.check_id,
    row.event_id,
    row.observed_at,
    row.received_at,
    row.status,
    row.exit_code,
    row.duration_ms,
    Number(row.output_truncated),
    Number(row.notifications_enabled),
    row.incident_key ?? null,
    row.output ?? null,
    0,
  )
}

/** Table `check_event`. */
export const makeHistoryRows = (connection: SqliteConnection) => {
  const known = connection.query<[CheckId]>(
    "SELECT check_id FROM check_event WHERE agent_id = ? AND event_id = ? AND registration_id = ?",
  )
  const anyKept = connection.query<[bigint]>(
    "SELECT 1 FROM check_event WHERE is_kept = 1 AND registration_id > '' LIMIT 1",
  )
  const replace = connection.query<never>(
    "UPDATE check_event SET is_kept = 0 WHERE registration_id = ? AND check_id = ? AND is_kept = 1",
  )
  const columns = [...WRITTEN, "is_kept"]
  const inserter = new RowInserter<HistoryRecord>(connection, { table: "check_event", columns, addValues })
  const removeCheck = connection.query<never>(
    "DELETE FROM check_event WHERE registration_id = ? AND check_id = ?",
  )
  return {
    /** Which of these events the history of a registration holds, with their checks. */
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
    /** Adds rows in the order in which they are to be numbered. What retention kept of their checks is replaced by them. */
    add: (rows: ReadonlyArray<HistoryRecord>): void => {
      if (rows.length > 0 && anyKept.get() !== undefined) {
        for (const { registration_id, check_id } of rows) replace.get(registration_id, check_id)
      }
      inserter.insert(rows)
    },
    removeCheck: (check: CheckRef): void => {
      removeCheck.get(check.registration_id, check.check_id)
    },
  }
}
