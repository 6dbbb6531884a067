import { Effect, Exit, Option, Stream } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgConnection } from "./PgConnection.ts"

/** Rows to a round trip: enough that the trips do not count, few enough to hold in memory. */
const rowsPerFetch = 256

/** Makes the names of cursors differ: several streams may share a transaction. */
let cursors = 0

interface StreamedQuery {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
  readonly transformRows: (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined
}

/**
 * Reads a query piece by piece through a server-side cursor, in the transaction that is open or in one of its own.
 * Only what DECLARE CURSOR takes can be streamed: SELECT and VALUES, no INSERT … RETURNING.
 */
export const streamRows = (
  connection: PgConnection,
  { parameters, text, transformRows }: StreamedQuery,
): Stream.Stream<SqlConnection.Row, SqlError.SqlError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const cursor = `tocsin_stream_${cursors++}`
      const ownTransaction = !connection.session.inTransaction
      if (ownTransaction) yield* connection.control("BEGIN", "begin")
      yield* Effect.addFinalizer((exit) => {
        if (!ownTransaction) return Effect.ignore(connection.control(`CLOSE ${cursor}`, "execute"))
        return Effect.ignore(
          Exit.isSuccess(exit)
            ? connection.control("COMMIT", "commit")
            : connection.control("ROLLBACK", "rollback"),
        )
      })
      yield* connection.executeUnprepared(
        `DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`,
        parameters,
        undefined,
      )
      const fetch = connection.executeUnprepared(`FETCH ${rowsPerFetch} FROM ${cursor}`, [], transformRows)
      return Stream.paginate(undefined, () =>
        Effect.map(
          fetch,
          (rows) => [rows, rows.length < rowsPerFetch ? Option.none() : Option.some(undefined)] as const,
        ),
      )
    }),
  )
