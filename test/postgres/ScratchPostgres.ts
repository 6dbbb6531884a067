import { randomBytes } from "node:crypto"
import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import type { PgPoolOptions } from "@tocsin/adapter-pg/client/PgPoolOptions"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { inject } from "vitest"
// The type of inject's values.
import type {} from "./globalSetup.ts"
import { startPostgres } from "./startPostgres.ts"

/** One pool on a scratch database, as a replica of the service has it. */
export interface Replica {
  readonly sql: SqlClient.SqlClient
  readonly pg: PgClient["Service"]
}

/** An empty database for one layer's tests, dropped with the layer. */
export class ScratchPostgres extends Context.Service<
  ScratchPostgres,
  {
    readonly url: Redacted.Redacted
    /** Another pool on this database, closed with the scope: two of them are two replicas. */
    readonly replica: (
      options?: Partial<PgPoolOptions>,
    ) => Effect.Effect<Replica, SqlError.SqlError, Scope.Scope>
    /**
     * Ends every connection to this database, and waits until they are gone. Returns how many there
     * were.
     */
    readonly killConnections: Effect.Effect<number>
    /** Refuses connections to this database, and ends those there are, until the scope closes. */
    readonly away: Effect.Effect<void, never, Scope.Scope>
  }
>()("@tocsin/test/postgres/ScratchPostgres") {
  /** Each suite that builds this layer gets a database; its parts share it. */
  static readonly layer: Layer.Layer<ScratchPostgres, SqlError.SqlError> = Layer.effect(
    ScratchPostgres,
    Effect.suspend(() => create(inject("postgresUrl"))),
  )

  /** The same with Tocsin's schema. */
  static readonly layerMigrated: Layer.Layer<ScratchPostgres, SqlError.SqlError> = Layer.effect(
    ScratchPostgres,
    Effect.suspend(() => create(inject("postgresUrl"), inject("migratedDatabase"))),
  )

  /** `layer` on a separate server, for tests that change what all databases of a server share. */
  static readonly layerOfOwnServer: Layer.Layer<ScratchPostgres, SqlError.SqlError> = Layer.effect(
    ScratchPostgres,
    Effect.acquireRelease(Effect.promise(startPostgres), ({ stop }) => Effect.promise(stop)).pipe(
      Effect.flatMap(({ url }) => create(url)),
    ),
  )

  /** `layer`, and a pool on it as `SqlClient` and `PgClient`. */
  static readonly layerClient = (
    options?: Partial<PgPoolOptions>,
  ): Layer.Layer<ScratchPostgres | PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
    Layer.unwrap(Effect.map(ScratchPostgres, ({ url }) => PgClient.layer({ url, ...options }))).pipe(
      Layer.provideMerge(ScratchPostgres.layer),
    )
}

/** A busy machine takes long to make a database and to fill it. */
export const PATIENCE = { connectTimeout: "1 minute", replyTimeout: "5 minutes" } as const

const killPatienceMillis = 60_000

const build = (options: PgPoolOptions): Effect.Effect<Replica, SqlError.SqlError, Scope.Scope> =>
  Effect.map(Layer.build(PgClient.layer(options)), (context) => ({
    sql: Context.get(context, SqlClient.SqlClient),
    pg: Context.get(context, PgClient),
  }))

const create = Effect.fnUntraced(function* (serverUrl: string, original = "template1") {
  const { sql } = yield* build({ url: Redacted.make(serverUrl), maxConnections: 1, ...PATIENCE })
  const name = `tocsin_test_${randomBytes(8).toString("hex")}`
  // Copies files, for a third of the processor time that writing each page to the log takes.
  yield* Effect.acquireRelease(
    sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(original)} STRATEGY FILE_COPY`,
    () => Effect.orDie(sql`DROP DATABASE ${sql(name)} WITH (FORCE)`),
  )
  const url = Redacted.make(Object.assign(new URL(serverUrl), { pathname: name }).href)

  const killConnections = sql`
    SELECT pg_terminate_backend(pid, ${killPatienceMillis}) FROM pg_stat_activity WHERE datname = ${name}
  `.pipe(
    Effect.map((rows) => rows.length),
    Effect.orDie,
  )
  const allowConnections = (allowed: boolean) =>
    Effect.orDie(sql`ALTER DATABASE ${sql(name)} ALLOW_CONNECTIONS ${sql.literal(String(allowed))}`)

  return ScratchPostgres.of({
    url,
    replica: (options) => build({ url, ...options }),
    killConnections,
    away: Effect.acquireRelease(Effect.andThen(allowConnections(false), killConnections), () =>
      allowConnections(true),
    ),
  })
})
