import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** Checks that must report. The lock of their agent guards them. */
export const expectationTable = makeTable(storedTables.expectation, { alias: "x" })

const SELECT = `SELECT ${expectationTable.columns}`

/** Reads expectations of registrations. */
export const findExpectations = `${SELECT}
  FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids text[])
  JOIN expectation AS x
    ON x.agent_id = wanted.agent_id AND x.registration_id = wanted.registration_id
   AND x.check_id = ANY(wanted.ids)`

/** Reads all expectations of the present registrations of agents. */
export const findExpectationsOfAgents = `${SELECT} FROM expectation AS x
  JOIN agent AS a ON a.agent_id = x.agent_id AND a.registration_id = x.registration_id
  WHERE x.agent_id = ANY($1)`

/** Reads those to be looked at by `$1`, longest due first, from the one after the given place. */
export const findDueExpectations = `${SELECT} FROM expectation AS x
  WHERE x.next_evaluation_at IS NOT NULL AND x.next_evaluation_at <= $1::int8
    AND (x.next_evaluation_at, x.agent_id, x.check_id, x.registration_id) > ($2::int8, $3::text, $4::text, $5::uuid)
  ORDER BY x.next_evaluation_at, x.agent_id, x.check_id, x.registration_id LIMIT $6::int8`
