import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable, deleteBy, givenRows, insertedColumns, reporting, type RowStatement } from "./makeTable.ts"
import type { CheckId, EventId } from "@tocsin/contract/Identifiers"
import type { SqlConnection } from "effect/sql"
import { keyedTables } from "./keyedTables.ts"

/** The current state of checks. The lock of their agent guards them. */
export const checkTable = makeTable(storedTables.check_state, { alias: "c" })

/** Reads checks of registrations, with their versions. */
export const findChecks = `SELECT ${checkTable.columns}, c.xmin AS version
  FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids text[])
  JOIN check_state AS c
    ON c.agent_id = wanted.agent_id AND c.registration_id = wanted.registration_id
   AND c.check_id = ANY(wanted.ids)`

/** Reads one check of an agent's present registration. */
export const findCheck = `SELECT ${checkTable.columns} FROM check_state AS c
  JOIN agent AS a ON a.agent_id = c.agent_id AND a.registration_id = c.registration_id
  WHERE c.agent_id = $1 AND c.check_id = $2`

const { check_event: shape, check_state } = storedTables

/** The history of checks. The lock of their agent guards it. */
export const historyTable = makeTable(shape, { alias: "e" })

const inserted = insertedColumns(shape)
const names = Object.keys(inserted).join(", ")

/**
 * Inserts history rows; the database numbers them in the given order. The row that retention kept
 * because it was the newest of its check loses that protection.
 */
export const insertHistory: RowStatement = {
  ...historyTable.insert,
  text: reporting(
    `INSERT INTO check_event (${names}) SELECT ${names} FROM given`,
    `given AS (SELECT * FROM ${givenRows(inserted)}),
     replaced AS (
       UPDATE check_event AS stored SET is_kept = false FROM given
       WHERE stored.is_kept AND stored.agent_id = given.agent_id AND stored.check_id = given.check_id
         AND stored.registration_id = given.registration_id
     ),`,
  ),
}

const { agent_id, check_id, registration_id } = check_state.columns

/** Deletes the history of deleted checks. */
export const deleteHistoryOfChecks = deleteBy("delete_history_of_checks", "check_event", {
  agent_id,
  registration_id,
  check_id,
})

/** Finds which of these event ids are in the histories of registrations, and of which checks. */
export const findKnownEvents = `SELECT e.registration_id, e.event_id, e.check_id
  FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids uuid[])
  JOIN check_event AS e
    ON e.agent_id = wanted.agent_id AND e.registration_id = wanted.registration_id
   AND e.event_id = ANY(wanted.ids)`

/** An event of the history and its check. The columns hold only valid ids. */
export const decodeKnown = (row: SqlConnection.Row): readonly [EventId, CheckId] => [
  row["event_id"] as EventId,
  row["check_id"] as CheckId,
]

/** Checks that must report. The lock of their agent guards them. */
export const expectationTable = keyedTables.expectation

const SELECT = `SELECT ${expectationTable.columns}`

/** Reads those to be evaluated by `$1`, longest due first, from the one after the given place. */
export const findDueExpectations = `${SELECT} FROM expectation AS x
  WHERE x.next_evaluation_at IS NOT NULL AND x.next_evaluation_at <= $1::int8
    AND (x.next_evaluation_at, x.agent_id, x.check_id, x.registration_id) > ($2::int8, $3::text, $4::text, $5::uuid)
  ORDER BY x.next_evaluation_at, x.agent_id, x.check_id, x.registration_id LIMIT $6::int8`
