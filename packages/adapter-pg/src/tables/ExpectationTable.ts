import { keyedTables } from "./keyedTables.ts"

/** Checks that must report. The lock of their agent guards them. */
export const expectationTable = keyedTables.expectation

const SELECT = `SELECT ${expectationTable.columns}`

/** Reads those to be evaluated by `$1`, longest due first, from the one after the given place. */
export const findDueExpectations = `${SELECT} FROM expectation AS x
  WHERE x.next_evaluation_at IS NOT NULL AND x.next_evaluation_at <= $1::int8
    AND (x.next_evaluation_at, x.agent_id, x.check_id, x.registration_id) > ($2::int8, $3::text, $4::text, $5::uuid)
  ORDER BY x.next_evaluation_at, x.agent_id, x.check_id, x.registration_id LIMIT $6::int8`
