import type { Context } from "effect"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { PgConnection } from "./PgConnection.ts"
import type { PgPool } from "./PgPool.ts"
import { sqlError } from "./toSqlError.ts"

/** Where the connection of the transaction that is open in a fiber is kept, and how deep its savepoints are. */
export type PgTransaction = Context.Service<
  SqlClient.TransactionConnection,
  readonly [connection: PgConnection, depth: number]
>

const savepoint = (depth: number) => `tocsin_${depth}`

/** PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and no error. */
const commit = Effect.fnUntraced(function* (connection: PgConnection) {
  const { command } = yield* connection.control("COMMIT", "commit")
  if (command !== "COMMIT") {
    return yield* sqlError("UnknownError", {
      message: "The transaction was rolled back: a statement in it had failed, and its error was caught",
      operation: "commit",
    })
  }
})

/**
 * `withTransaction` for PostgreSQL. `SqlClient.make` has one, in which a ROLLBACK or RELEASE that fails is a defect that
 * hides the error before it. Here such a failure is left out, for it loses nothing: the lost connection is discarded,
 * which rolls back, and a transaction that goes on nevertheless fails at its next statement or at COMMIT.
 */
export const makeWithTransaction = ({
  pool,
  spanAttributes,
  transaction,
}: {
  readonly pool: PgPool
  readonly transaction: PgTransaction
  readonly spanAttributes: ReadonlyArray<readonly [string, unknown]>
}) =>
  SqlClient.makeWithTransaction({
    transactionService: transaction,
    spanAttributes,
    acquireConnection: (restore) => restore(pool.acquirer),
    begin: (connection, statement) => connection.control(statement ?? "BEGIN", "begin"),
    savepoint: (connection, depth) => connection.control(`SAVEPOINT ${savepoint(depth)}`, "begin"),
    releaseSavepoint: (connection, depth) =>
      Effect.ignore(connection.control(`RELEASE SAVEPOINT ${savepoint(depth)}`, "execute")),
    commit,
    rollback: (connection) => Effect.ignore(connection.control("ROLLBACK", "rollback")),
    rollbackSavepoint: (connection, depth) =>
      Effect.ignore(connection.control(`ROLLBACK TO SAVEPOINT ${savepoint(depth)}`, "rollback")),
  })
