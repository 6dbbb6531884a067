import type { CheckRecord, CheckRef } from "@tocsin/core/model/CheckRecord"
import type { ExpectationRecord } from "@tocsin/core/model/ExpectationRecord"
import type { Storage } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { checkTable, findChecks, expectationTable, findDueExpectations } from "../tables/CheckTable.ts"

const { decode, find } = expectationTable

type Pg = PgClient["Service"]

/** Before every time that a row has. */
const LONG_AGO = -(2n ** 63n)
const LEAST_UUID = "00000000-0000-0000-0000-000000000000"

/** See `Storage.dueExpectations`. */
export const readDueExpectations = (
  pg: Pg,
  { after, limit, now }: Parameters<Storage["Service"]["dueExpectations"]>[0],
): Effect.Effect<ReadonlyArray<ExpectationRecord>, SqlError.SqlError> => {
  const place = [
    after?.next_evaluation_at ?? LONG_AGO,
    after?.agent_id ?? "",
    after?.check_id ?? "",
    after?.registration_id ?? LEAST_UUID,
  ]
  return Effect.map(pg.query(findDueExpectations, [now, ...place, limit]), (rows) => rows.map(decode))
}

const wanted = (checks: ReadonlyArray<CheckRef>) =>
  checks.map(({ agent_id, check_id, registration_id }) => ({ agent_id, registration_id, ids: [check_id] }))

/** See `Storage.expectations`. */
export const readExpectations = (
  pg: Pg,
  checks: ReadonlyArray<CheckRef>,
): Effect.Effect<ReadonlyArray<ExpectationRecord>, SqlError.SqlError> =>
  Effect.map(pg.query(find.text, find.parameters(checks)), (rows) => rows.map(decode))

/** See `Storage.checks`. */
export const readChecks = (
  pg: Pg,
  checks: ReadonlyArray<CheckRef>,
): Effect.Effect<ReadonlyArray<CheckRecord>, SqlError.SqlError> =>
  Effect.map(pg.queryJson(findChecks, wanted(checks)), (rows) => rows.map(checkTable.decode))
