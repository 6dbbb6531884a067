import * as Instant from "@tocsin/contract/formats/Instant"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Context, Effect, Layer, Duration, Random, Result } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import * as RealTime from "./RealTime.ts"
import { PgClient } from "./client/PgClient.ts"
import { type PgPoolOptions, settingStatement } from "./client/PgPoolOptions.ts"
import type { Announcer } from "./hints/remoteWakeups.ts"
import type { Reading } from "./tables/makeTable.ts"
import { toStorageError, isLostRace, sqlStateOf } from "./toStorageError.ts"

export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly pg: PgClient["Service"]
}

export interface CommandDatabase extends Database {
  readonly announcer: Announcer
}

export const connect = (options: PgPoolOptions) =>
  Layer.build(PgClient.layer(options)).pipe(
    Effect.map((services): Database => ({
      sql: Context.get(services, SqlClient.SqlClient),
      pg: Context.get(services, PgClient),
    })),
    Effect.mapError(toStorageError),
  )

/** Not prepared: PostgreSQL plans it for these parameters, and finds partial indexes. */
export const read = (
  sql: SqlClient.SqlClient,
  statement: string,
  parameters: ReadonlyArray<unknown>,
): Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError> =>
  sql.unsafe<SqlConnection.Row>(statement, parameters).unprepared

export const readRows = <Row>(
  sql: SqlClient.SqlClient,
  { decode, text }: Reading<Row>,
  parameters: ReadonlyArray<unknown>,
): Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError> =>
  Effect.map(read(sql, text, parameters), (rows) => rows.map(decode))

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

/**
 * Settings with which prepared statements find rows by index. A connection keeps a plan for its
 * whole life: one made while a table was small would still read all of it after it has grown. A
 * generic plan expects few given rows, so it looks each of them up. None of them is worth
 * compiling.
 */
export const indexSettings = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
  jit: "off",
}

const setIndexSettings = settingStatement(indexSettings, "transaction ends")

/** Runs an effect in a transaction in which each statement sees what is committed when it begins. */
export const transaction = <A, E, R>(
  { sql }: Database,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.provideService(
    sql.withTransaction(effect),
    SqlClient.BeginTransaction,
    "BEGIN ISOLATION LEVEL READ COMMITTED",
  )

export const indexedTransaction = <A, E, R>(
  database: Database,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  transaction(database, Effect.andThen(database.pg.query(setIndexSettings, []), effect))

/** More than the connections of a usual pool: after a restart of the server each of them fails once. */
const MAX_ATTEMPTS = 12

/** Half of what callers wait for. An attempt that waited longer for a lock or a connection is not repeated. */
const RETRY_FOR = Duration.seconds(5)

/** A lost race is over within milliseconds. */
const FIRST_PAUSE_MILLIS = 2

/** Keeps the sum of all pauses well below a second. */
const LONGEST_PAUSE_MILLIS = 150

const READ_ONLY_TRANSACTION = "25006"

/** Full jitter: commands that collided spread over the whole pause. */
const pauseAfter = (attempt: number): Effect.Effect<void> => {
  const longest = Math.min(FIRST_PAUSE_MILLIS * 2 ** attempt, LONGEST_PAUSE_MILLIS)
  return Effect.flatMap(Random.nextBetween(0, longest), (millis) => RealTime.pause(Duration.millis(millis)))
}

/** Whether it lost a race, or its connection before COMMIT. A database that refuses is not retried. */
const isTransient = (error: SqlError.SqlError): boolean => {
  const { _tag, operation } = error.reason
  const isLostConnection =
    _tag === "ConnectionError" && operation !== "connect" && sqlStateOf(error) !== READ_ONLY_TRANSACTION
  return isLostConnection || isLostRace(error)
}

export const retryTransient = Effect.fnUntraced(function* <A>(
  attempt: Effect.Effect<A, SqlError.SqlError | StorageError>,
): Effect.fn.Return<A, StorageError> {
  const isOver = yield* RealTime.stopwatch(RETRY_FOR)
  for (let made = 1; ; made++) {
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) return result.success
    const error = result.failure
    if (error._tag === "StorageError") return yield* error
    if (made === MAX_ATTEMPTS || isOver() || !isTransient(error)) return yield* toStorageError(error)
    yield* pauseAfter(made)
  }
})
