import { Effect, Semaphore } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type pg from "pg"
import { checkedParameters } from "./checkedParameters.ts"
import type { PgQuery, PgSession } from "./PgSession.ts"
import type { StatementNames } from "./StatementNames.ts"
import { streamRows } from "./streamRows.ts"
import type { PgOperation } from "./toSqlError.ts"

/** A statement of fixed text, prepared under its name on the first use on each connection. */
export interface PgStatement {
  /** Unique within the process and at most 63 bytes; shows in `pg_prepared_statements`. */
  readonly name: string
  /** One command with `$1` placeholders. */
  readonly text: string
}

/** A connection of effect/sql, and what this client needs beyond that. */
export interface PgConnection extends SqlConnection.Connection {
  readonly executeNamed: (
    statement: PgStatement,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>
  /** Runs BEGIN, COMMIT and the like: unprepared, and bounded, since nothing can interrupt them. */
  readonly control: (text: string, operation: PgOperation) => Effect.Effect<pg.QueryResult, SqlError.SqlError>
  readonly session: PgSession
}

/** The rows of the last command where a text holds several: the driver then gives an array, which it does not declare. */
const rowsOf = (result: pg.QueryResult | ReadonlyArray<pg.QueryResult>) =>
  ("rows" in result ? result : result.at(-1))?.rows ?? []

/**
 * Wraps a session for effect/sql. Statements of several fibers on one connection take turns, in the order they came,
 * so that cancelling one never hits another.
 */
export const makePgConnection = (session: PgSession, names: StatementNames): PgConnection => {
  const turn = Semaphore.makeUnsafe(1)
  const run = (query: () => PgQuery) =>
    turn.withPermit(Effect.suspend(() => session.run(query(), { operation: "execute" })))

  const unprepared = (text: string, parameters: ReadonlyArray<unknown>): PgQuery =>
    parameters.length === 0 ? { text } : { text, values: checkedParameters(parameters) }

  // A text without parameters may hold several commands, and those cannot be prepared.
  const prepared = (text: string, parameters: ReadonlyArray<unknown>): PgQuery => {
    const name = parameters.length === 0 ? undefined : names.nameOf(text)
    return name === undefined ? unprepared(text, parameters) : { ...unprepared(text, parameters), name }
  }

  const connection: PgConnection = {
    session,
    execute: (text, parameters, transformRows) =>
      Effect.map(
        run(() => prepared(text, parameters)),
        (result) => transformRows?.(rowsOf(result)) ?? rowsOf(result),
      ),
    executeUnprepared: (text, parameters, transformRows) =>
      Effect.map(
        run(() => unprepared(text, parameters)),
        (result) => transformRows?.(rowsOf(result)) ?? rowsOf(result),
      ),
    executeRaw: (text, parameters) => run(() => prepared(text, parameters)),
    executeValues: (text, parameters) =>
      Effect.map(
        run(() => ({ ...prepared(text, parameters), rowMode: "array" })),
        rowsOf,
      ),
    executeValuesUnprepared: (text, parameters) =>
      Effect.map(
        run(() => ({ ...unprepared(text, parameters), rowMode: "array" })),
        rowsOf,
      ),
    executeStream: (text, parameters, transformRows) =>
      streamRows(connection, { text, parameters, transformRows }),
    executeNamed: (statement, parameters) =>
      Effect.map(
        run(() => ({ ...statement, values: checkedParameters(parameters) })),
        rowsOf,
      ),
    control: (text, operation) => turn.withPermit(session.run({ text }, { operation, bounded: true })),
  }
  return connection
}
