import type { StorageError } from "@tocsin/core/ports/Storage"
import { Context, Effect, Layer, type Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { PgClient } from "../client/PgClient.ts"
import { LONG_WORK } from "../client/PgPoolOptions.ts"
import { settingStatement } from "../client/script.ts"
import type { Database } from "../Database.ts"
import { toStorageError } from "../toStorageError.ts"

/** What `pg_stat_activity` shows of a copy, so that it does not take itself for a server. */
const APPLICATION = "tocsin-copy"

/** One connection, until the scope ends. */
export const connectForCopy = (url: Redacted.Redacted) =>
  Layer.build(
    PgClient.layer({ url, maxConnections: 1, applicationName: APPLICATION, replyTimeout: LONG_WORK }),
  ).pipe(
    Effect.map((services): Database => ({
      sql: Context.get(services, SqlClient.SqlClient),
      pg: Context.get(services, PgClient),
    })),
    Effect.mapError(toStorageError),
  )

const setPatience = settingStatement(
  { lock_timeout: "10000", statement_timeout: "0", idle_in_transaction_session_timeout: "0" },
  "transaction ends",
)

/**
 * Runs `use` in one transaction that may take hours, but waits for no lock longer than a service would hold one.
 * `mode` is how it begins: `ISOLATION LEVEL REPEATABLE READ`, for instance.
 */
export const inTransaction = <A, E, R>(
  { sql }: Database,
  mode: string,
  use: Effect.Effect<A, E | SqlError.SqlError, R>,
): Effect.Effect<A, E | StorageError, R> =>
  sql.withTransaction(Effect.andThen(sql.unsafe(setPatience), use)).pipe(
    Effect.provideService(SqlClient.BeginTransaction, `BEGIN ${mode}`),
    Effect.catch((error) => Effect.fail(isSqlError(error) ? toStorageError(error) : error)),
  )

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"
