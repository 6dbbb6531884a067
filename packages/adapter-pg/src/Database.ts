import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import { PgClient } from "./client/PgClient.ts"
import type { PgPoolOptions } from "./client/PgPoolOptions.ts"
import type { Announcer } from "./hints/Announcer.ts"
import { toStorageError } from "./toStorageError.ts"

/** One pool on a database, by both of its interfaces. */
export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly pg: PgClient["Service"]
}

/** One pool on a database for commands. */
export interface CommandDatabase extends Database {
  /** The announcer of this process. */
  readonly announcer: Announcer
}

/** Opens a pool on a database until the scope ends. */
export const connect = (options: PgPoolOptions) =>
  Layer.build(PgClient.layer(options)).pipe(
    Effect.map((services): Database => ({
      sql: Context.get(services, SqlClient.SqlClient),
      pg: Context.get(services, PgClient),
    })),
    Effect.mapError(toStorageError),
  )

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
