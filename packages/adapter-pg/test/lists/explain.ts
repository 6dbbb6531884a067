import { planNodes } from "@tocsin/test/postgres/planNodes"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { PageStatement } from "../../src/lists/pageStatement.ts"

/** Runs a statement, and returns all nodes of its plan. */
export const explain = (sql: SqlClient.SqlClient, { text, values }: PageStatement) =>
  Effect.map(
    sql.unsafe<{ "QUERY PLAN": unknown }>(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, values)
      .unprepared,
    (rows) => planNodes(rows[0]?.["QUERY PLAN"]),
  )
