import type { CheckId, EventId } from "@tocsin/contract/formats/Identifiers"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import { last_result, type MemberCheck } from "@tocsin/core/kernel/model/LastResult"
import { DELETION } from "@tocsin/core/features/numbers/NumberPart"
import {
  type EvaluatedName,
  type KeyedName,
  type KeyedRows,
  type Keys,
  storedTables,
} from "@tocsin/core/lists/StoredTables"
import type { DueRequest } from "@tocsin/core/kernel/ports/Storage"
import type { SqlConnection } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { keyedTables } from "./keyedTables.ts"
import {
  decoder,
  deleteBy,
  givenRows,
  makeTable,
  type Reading,
  reporting,
  rowsOf,
  type RowStatement,
} from "./makeTable.ts"

/** The current state of checks. The lock of their agent guards them. */
export const checkTable = makeTable(storedTables.check_state, { alias: "c" })

/** Reads checks of registrations, with their versions. */
export const findChecks = {
  decode: checkTable.decode,
  text: `SELECT ${checkTable.columns}, c.xmin AS version
  FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids text[])
  JOIN check_state AS c
    ON c.agent_id = wanted.agent_id AND c.registration_id = wanted.registration_id
   AND c.check_id = ANY(wanted.ids)`,
}

/** Reads one check of an agent's present registration. */
export const findCheck = checkTable.select(
  `JOIN agent AS a ON a.agent_id = c.agent_id AND a.registration_id = c.registration_id
  WHERE c.agent_id = $1 AND c.check_id = $2`,
)

/** The history of checks. The lock of their agent guards it. */
const historyTable = makeTable(storedTables.check_event, { alias: "e" })

const inserted = historyTable.insert.columns
const names = Object.keys(inserted).join(", ")

/** Inserts history rows in order. The row that retention kept as the newest of its check loses that. */
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

export const deleteHistoryOfChecks = deleteBy(
  "delete_history_of_checks",
  "check_event",
  checkTable.delete.columns,
)

/** Deletes the series of numbers of deleted checks; their spans expire. */
export const deleteSeriesOfChecks = deleteBy(
  "delete_series_of_checks",
  "number_series",
  checkTable.delete.columns,
)

const DELETED = { ...checkTable.delete.columns, received_at: storedTables.check_state.columns.received_at }

/** Says until when they were deleted to servers that have numbers of them in memory (docs/rules.md#numbers). */
export const putDeletionsOfChecks: RowStatement = {
  name: "put_deletions_of_checks",
  columns: DELETED,
  text: reporting(
    `INSERT INTO number_series (agent_id, registration_id, check_id, name, unit, newest)
     SELECT agent_id, registration_id, check_id, '${DELETION}', '', max(received_at) / 1000
     FROM ${givenRows(DELETED)} GROUP BY agent_id, registration_id, check_id`,
  ),
}

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

/** Finds the rows of a table that are to be evaluated. The lock of their agent guards them. */
const findDue = <N extends EvaluatedName>(name: N): Reading<KeyedRows[N]> => {
  const { alias: x, select } = keyedTables[name]
  const place = `${x}.next_evaluation_at, ${x}.agent_id, ${x}.check_id, ${x}.registration_id`
  return select(`WHERE ${x}.next_evaluation_at IS NOT NULL AND ${x}.next_evaluation_at <= $1::int8
      AND (${place}) > ($2::int8, $3::text, $4::text, $5::uuid)
    ORDER BY ${place} LIMIT $6::int8`)
}

type Pg = PgClient["Service"]

/** Before every time that a row has. */
const LONG_AGO = -(2n ** 63n)
const LEAST_UUID = "00000000-0000-0000-0000-000000000000"

export const readDueRows = <N extends EvaluatedName>(
  pg: Pg,
  name: N,
  { after, limit, now }: DueRequest<N>,
) => {
  const place = [
    after?.next_evaluation_at ?? LONG_AGO,
    after?.agent_id ?? "",
    after?.check_id ?? "",
    after?.registration_id ?? LEAST_UUID,
  ]
  return rowsOf(pg, findDue(name), [now, ...place, limit])
}

export const readRows = <N extends KeyedName>(pg: Pg, name: N, keys: ReadonlyArray<Keys[N]>) => {
  const { find } = keyedTables[name]
  return rowsOf(pg, find, find.parameters(keys))
}

/** Reads the last results of members' checks; an index finds the newest result of each in the history. */
const findLastResults = {
  decode: decoder(last_result),
  text: `SELECT w.incident_id, c.status, c.summary AS output,
    (SELECT h.changed_at FROM incident_change AS h WHERE h.incident_id = w.incident_id AND h.seq = w.change_seq),
    (
      SELECT CASE WHEN e.observed_at = c.last_observed_at THEN e.duration_ms END FROM check_event AS e
      WHERE e.agent_id = w.agent_id AND e.check_id = w.check_id AND e.registration_id = w.registration_id
      ORDER BY e.seq + 0 DESC LIMIT 1
    ) AS duration_ms,
    (
      SELECT r.address FROM reported_alert AS r
      WHERE r.agent_id = w.agent_id AND r.check_id = w.check_id AND r.registration_id = w.registration_id
    )
  FROM json_to_recordset($1)
    AS w (incident_id text, change_seq int4, agent_id text, registration_id uuid, check_id text)
  JOIN check_state AS c USING (agent_id, registration_id, check_id)`,
}

export const readLastResults = (pg: Pg, members: ReadonlyArray<MemberCheck>) =>
  rowsOf(pg, findLastResults, [JSON.stringify(members)])

export const readChecks = (pg: Pg, checks: ReadonlyArray<CheckRef>) => {
  const wanted = checks.map(({ agent_id, check_id, registration_id }) => ({
    agent_id,
    registration_id,
    ids: [check_id],
  }))
  return rowsOf(pg, findChecks, [JSON.stringify(wanted)])
}
