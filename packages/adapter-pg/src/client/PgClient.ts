import { Context, Effect, Layer, Option, type Schema, type Scope, type Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import * as Driver from "@effect/sql-pg/PgClient"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import type { PgConnection, PgTransaction } from "./PgConnection.ts"
import { PgPool, type PgPoolStatus } from "./PgPool.ts"
import type { PgPoolOptions } from "./PgPoolOptions.ts"
import { makeWithTransaction } from "./upstreamDefects.ts"

const spanAttributes = [["db.system.name", "postgresql"]] as const

/** Each pool has its own key, so that two pools in one fiber do not share a transaction. */
let clients = 0

/**
 * Prepared statements for hot paths, without the cost of a template and a span for each call.
 * Queries run in the current transaction of `SqlClient.withTransaction`, if there is one.
 */
export class PgClient extends Context.Service<
  PgClient,
  {
    /**
     * Runs a statement of fixed text, one command with `$1` placeholders, which is prepared on the
     * first use on each connection. `undefined` among the parameters is a defect.
     */
    readonly query: (
      statement: string,
      parameters: ReadonlyArray<unknown>,
    ) => Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>
    /** Runs a prepared statement whose only parameter is JSON: faster than arrays that the driver encodes. */
    readonly queryJson: (
      statement: string,
      value: Schema.Json,
    ) => Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>
    /** Listens on a channel, on a separate connection. Succeeds with the payloads from now on. */
    readonly listen: (
      channel: string,
    ) => Effect.Effect<Stream.Stream<string, SqlError.SqlError>, SqlError.SqlError, Scope.Scope>
    readonly poolStatus: Effect.Effect<PgPoolStatus>
    /** Fails if the server of an idle connection does not answer; the pool closes those that are as old. */
    readonly sound: Effect.Effect<void, SqlError.SqlError>
  }
>()("@tocsin/adapter-pg/client/PgClient") {
  /**
   * A pool on one database as `SqlClient` and `PgClient`. It connects on first use; only an invalid URL fails it.
   * After a `ConnectionError` with operation `commit` the transaction may have committed; after any other error it
   * has not. An interrupted statement is cancelled on the server, and its transaction rolled back, before
   * interruption ends. COMMIT fails if a statement had failed, where PostgreSQL would quietly roll back.
   */
  static readonly layer = (
    options: PgPoolOptions,
  ): Layer.Layer<PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
    Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer))
}

const make = Effect.fnUntraced(function* (options: PgPoolOptions) {
  const pool = yield* PgPool.make(options)
  const transaction: PgTransaction = Context.Service(`@tocsin/adapter-pg/client/Transaction/${clients++}`)
  const sql = yield* SqlClient.make({
    acquirer: Effect.uninterruptibleMask(pool.acquire),
    borrower: pool.use,
    compiler: Driver.makeCompiler(),
    driver: "pg",
    spanAttributes,
    // SqlClient only reads this service, so a service of PgConnections is one of Connections.
    transactionService: transaction as unknown as SqlClient.SqlClient["transactionService"],
  })
  const withTransaction = makeWithTransaction(transaction, pool.acquire, spanAttributes)

  const withConnection = <A, E, R>(use: (connection: PgConnection) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      Effect.serviceOption(transaction),
      Option.match({ onNone: () => pool.use(use), onSome: ([connection]) => use(connection) }),
    )
  const query: PgClient["Service"]["query"] = (statement, parameters) =>
    withConnection((connection) => connection.execute(statement, parameters, undefined))

  return Context.make(SqlClient.SqlClient, Object.assign(sql, { withTransaction })).pipe(
    Context.add(
      PgClient,
      PgClient.of({
        query,
        queryJson: (statement, value) => Effect.suspend(() => query(statement, [JSON.stringify(value)])),
        listen: (channel) =>
          Effect.flatMap(Effect.uninterruptibleMask(pool.acquire), (connection) =>
            connection.listen(channel),
          ),
        poolStatus: Effect.sync(() => pool.status),
        sound: pool.use((connection) => connection.sound),
      }),
    ),
  )
})
