import { Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { PgPoolOptions } from "../client/PgPoolOptions.ts"
import { connect } from "../Database.ts"
import { toStorageError } from "../toStorageError.ts"

/** One connection for an inspection, which waits 5 s for it and for each answer. */
export const connectForInspection = (options: PgPoolOptions) =>
  connect({
    ...options,
    connectTimeout: Duration.seconds(5),
    statementTimeout: Duration.seconds(5),
    maxConnections: 1,
  })

/**
 * How many connections PostgreSQL allows the current user in all: those of the server that are not
 * reserved for others, or the limit of the database or of the role if it is lower.
 */
export const readConnectionLimit = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  // reserved_connections is from PostgreSQL 16 on; a limit of -1 is none, and least ignores NULL.
  const [row] = yield* sql<{ readonly allowed: number }>`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
    ) AS allowed
  `.unprepared
  // Always one row.
  return row?.allowed ?? 0
})

/** Reads {@link readConnectionLimit} on a separate connection. */
export const inspectConnections = Effect.fn("inspectConnections")(
  function* (options: PgPoolOptions) {
    const { sql } = yield* connectForInspection(options)
    return yield* readConnectionLimit(sql)
  },
  Effect.scoped,
  Effect.mapError(toStorageError),
)
