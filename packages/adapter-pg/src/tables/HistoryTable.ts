import type { HistoryRecord } from "@tocsin/core/checks/CheckRecord"
import type { StoredHistoryRecord } from "@tocsin/core/engine/lists/ListDefinitions"
import type { CheckId, EventId } from "@tocsin/core/contract/Identifiers"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Columns } from "./columnArrays.ts"
import { givenRows, type RowStatement, selectList, type TableShape, telling } from "./TableShape.ts"

const columns: TableShape<Required<HistoryRecord>>["columns"] = {
  agent_id: "text",
  registration_id: "uuid",
  event_id: "uuid",
  check_id: "text",
  observed_at: "int8",
  received_at: "int8",
  status: "text",
  exit_code: "int8",
  duration_ms: "int8",
  output: "text",
  output_truncated: "boolean",
  notifications_enabled: "boolean",
  incident_key: "text",
}

type HistoryRow = Omit<Required<HistoryRecord>, "exit_code" | "duration_ms" | "output" | "incident_key"> & {
  readonly seq: bigint
  readonly exit_code: bigint
  readonly duration_ms: bigint
  readonly output: string | null
  readonly incident_key: NonNullable<HistoryRecord["incident_key"]> | null
}

/** Columns of a history row, of the table alias `e`. */
export const historyColumns = `e.seq, ${selectList(columns, "e")}`

const names = Object.keys(columns).join(", ")

/**
 * Inserts history rows; the database numbers them in the order in which they are given. A row that was kept beyond its
 * retention, because it was the newest of its check, loses that protection.
 */
export const insertHistory: RowStatement = {
  name: "insert_check_event",
  columns,
  text: telling(
    `INSERT INTO check_event (${names}) SELECT ${names} FROM given`,
    `given AS (SELECT * FROM ${givenRows(columns)}),
     replaced AS (
       UPDATE check_event AS stored SET is_kept = false FROM given
       WHERE stored.is_kept AND stored.agent_id = given.agent_id AND stored.check_id = given.check_id
         AND stored.registration_id = given.registration_id
     ),`,
  ),
}

const checkColumns: Columns = { agent_id: "text", registration_id: "uuid", check_id: "text" }

/** Deletes the history of checks that are deleted; their agents' locks guard them. */
export const deleteHistoryOfChecks: RowStatement = {
  name: "delete_history_of_checks",
  columns: checkColumns,
  text: telling(
    `DELETE FROM check_event AS stored
     USING ${givenRows(checkColumns)}
     WHERE stored.agent_id = given.agent_id AND stored.check_id = given.check_id
       AND stored.registration_id = given.registration_id`,
  ),
}

/** Reads which of these event ids the histories of registrations hold; their agents' locks guard them. */
export const findKnownEvents: PgStatement = {
  name: "find_known_events",
  text: `SELECT e.registration_id, e.event_id, e.check_id
         FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids uuid[])
         JOIN check_event AS e
           ON e.agent_id = wanted.agent_id AND e.registration_id = wanted.registration_id
          AND e.event_id = ANY(wanted.ids)`,
}

/** An event of the history and its check; the columns hold nothing but what was an EventId and a CheckId when written. */
export const decodeKnown = (row: SqlConnection.Row): readonly [EventId, CheckId] => [
  row["event_id"] as EventId,
  row["check_id"] as CheckId,
]

/** Reads a row that was selected by {@link historyColumns}; what an event left out is absent. */
export const decodeHistory = (found: SqlConnection.Row): StoredHistoryRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const { output, incident_key, ...row } = found as unknown as HistoryRow
  return {
    ...row,
    seq: Number(row.seq),
    exit_code: Number(row.exit_code),
    duration_ms: Number(row.duration_ms),
    ...(output !== null && { output }),
    ...(incident_key !== null && { incident_key }),
  }
}
