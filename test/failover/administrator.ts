import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../processes/until.ts"

/** A connection to a server, closed with the scope. */
export const administrator = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), (services) =>
    Context.get(services, SqlClient.SqlClient),
  )

/** Waits until a primary has committed enough that a server without it has lost acknowledged results. */
export const untilMoreIsCommitted = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [last] = yield* sql<{ lsn: string }>`SELECT pg_current_wal_lsn()::text AS lsn`
  yield* until(
    "more is committed",
    Effect.map(
      sql<{ is_ahead: boolean }>`
        SELECT pg_current_wal_lsn() - ${last?.lsn ?? ""}::pg_lsn > 100000 AS is_ahead`,
      ([row]) => row?.is_ahead,
    ),
  )
})
