import { Context, Effect, Layer, Option } from "effect"
import type { Schema, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import * as Driver from "@effect/sql-pg/PgClient"
import { SqlClient } from "effect/sql"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgConnection, PgStatement, PgTransaction } from "./PgConnection.ts"
import { PgPool, type PgPoolStatus } from "./PgPool.ts"
import type { PgPoolOptions } from "./PgPoolOptions.ts"
import { makeWithTransaction } from "./upstreamDefects.ts"

const spanAttributes = [["db.system.name", "postgresql"]] as const

/** Two pools in one fiber must not take each other's transactions for their own: each has a key. */
let clients = 0

/**
 * What the PostgreSQL adapter needs beyond `SqlClient`: prepared statements for its hot paths, without the cost of
 * a template and a span a call. Both run in the current transaction of `SqlClient.withTransaction`, if there is one.
 */
export class PgClient extends Context.Service<
  PgClient,
  {
    /** Runs a prepared statement. `undefined` among the parameters is a defect. */
    readonly query: (
      statement: PgStatement,
      parameters: ReadonlyArray<unknown>,
    ) => Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>
    /**
     * Runs a prepared statement whose only parameter, `$1`, is a value as JSON text, for `json_to_recordset($1)`:
     * faster than arrays that the driver encodes. A 64-bit integer goes in as a string of its digits.
     */
    readonly queryJson: (
      statement: PgStatement,
      value: Schema.Json,
    ) => Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>
    /** Takes a connection for itself and listens on a channel: succeeds with the payloads from now on. */
    readonly listen: (
      channel: string,
    ) => Effect.Effect<Stream.Stream<string, SqlError.SqlError>, SqlError.SqlError, Scope.Scope>
    readonly poolStatus: Effect.Effect<PgPoolStatus>
    /** Fails where a connection that nobody uses has no server at its other end; then those like it are given up. */
    readonly sound: Effect.Effect<void, SqlError.SqlError>
  }
>()("@tocsin/adapter-pg/client/PgClient") {
  /**
   * A pool on one database as `SqlClient` and `PgClient`, closed with the layer's scope.
   *
   * - Connects when first used, so it is built also while the database is away; a URL that cannot be used fails it.
   * - Errors are `SqlError`s by SQLSTATE with a `PgFailure` as cause. A `ConnectionError` with operation `commit` leaves
   *   open whether the transaction committed; with any other, it did not. One outside a transaction may have been done.
   * - An interrupted statement is cancelled on the server and its transaction rolled back before interruption ends.
   * - COMMIT of a transaction in which a statement had failed fails, where PostgreSQL would quietly roll back.
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
    // A service of PgConnections is one of Connections for all that SqlClient does with it: it only reads it.
    transactionService: transaction as unknown as SqlClient.SqlClient["transactionService"],
  })
  const withTransaction = makeWithTransaction(transaction, pool.acquire, spanAttributes)

  const withConnection = <A, E, R>(use: (connection: PgConnection) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      Effect.serviceOption(transaction),
      Option.match({ onNone: () => pool.use(use), onSome: ([connection]) => use(connection) }),
    )
  const query: PgClient["Service"]["query"] = ({ text }, parameters) =>
    withConnection((connection) => connection.execute(text, parameters, undefined))

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
