import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import { PgClient } from "./client/PgClient.ts"
import type { PgPoolOptions } from "./client/PgPoolOptions.ts"
import type { Announcer } from "./hints/Announcer.ts"
import { toStorageError } from "./toStorageError.ts"
import * as Instant from "@tocsin/contract/Instant"

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

/** The numbers of the advisory locks that Tocsin takes until a transaction ends. Nothing else locks them. */
export const ADVISORY_LOCKS = {
  migrations: 7_243_197_000,
  registrations: 7_243_197_001,
  silenceCount: 7_243_197_002,
  /** With a hash of the group, in PostgreSQL's space of two numbers. */
  groups: 724_319_703,
} as const

/** The database's own clock, in microseconds since 1970, at this moment and not at the transaction's start. */
export const STORAGE_TIME = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8"

const findStorageTime = `SELECT ${STORAGE_TIME} AS storage_time`

/** Reads the clock that leases are granted and compared by, and that replicas correct theirs by. */
export const readStorageTime = (pg: PgClient["Service"]): Effect.Effect<Instant.Instant, SqlError.SqlError> =>
  Effect.map(pg.query(findStorageTime, []), (rows) =>
    // One row with one bigint, always.
    Instant.fromMicros(rows[0]?.["storage_time"] as bigint),
  )
