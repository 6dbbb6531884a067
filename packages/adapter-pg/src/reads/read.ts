import type { Effect } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"

/**
 * Runs a query outside of a transaction. Not prepared: the plan is made for the very parameters and the table as it is now,
 * finds partial indexes, and costs little beside what a person waits for.
 */
export const read = (
  sql: SqlClient.SqlClient,
  statement: Pick<PgStatement, "text">,
  parameters: ReadonlyArray<unknown>,
): Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError> =>
  sql.unsafe<SqlConnection.Row>(statement.text, parameters).unprepared
