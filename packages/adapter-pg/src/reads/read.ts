import type { Effect } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"

/**
 * Runs a query outside of a transaction. It is not prepared, so that PostgreSQL plans it for these
 * parameters and the present table, and finds partial indexes.
 */
export const read = (
  sql: SqlClient.SqlClient,
  statement: string,
  parameters: ReadonlyArray<unknown>,
): Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError> =>
  sql.unsafe<SqlConnection.Row>(statement, parameters).unprepared
