import type * as Session from "@effect/sql-pg/PgConnection"
import { type Context, Effect, Scope, Stream } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import { unfit } from "./Primary.ts"
import { outlivesStatement, PgFailure, type PgOperation, toSqlError } from "./toSqlError.ts"
import { asTexts } from "./upstreamDefects.ts"

/** Limits the time of one statement. */
export interface AwaitedAnswer {
  readonly sentAt: number
  readonly isLate: boolean
  readonly stop: () => void
}

/** A connection lent to one user. */
export interface PgLease {
  /** Starts the time of a statement: `replyTimeout`, or the given one. */
  readonly expectAnswer: (withinMillis?: number) => AwaitedAnswer
  /** Closes the connection when it is returned. */
  readonly discard: () => void
  readonly close: Effect.Effect<void>
}

/** Holds the connection of the transaction that a fiber has open, and the depth of its savepoints. */
export type PgTransaction = Context.Service<
  SqlClient.TransactionConnection,
  readonly [connection: PgConnection, depth: number]
>

/** A statement that does nothing is answered within milliseconds, or not at all. */
const SOUND_MILLIS = 500

type Parameters = ReadonlyArray<unknown>
type TransformRows = (<A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/**
 * A connection lent to one user: the driver's, with a time limit for each answer, parameters whose
 * types the server decides, and errors without secrets.
 */
export class PgConnection implements SqlConnection.Connection {
  readonly #session: Session.PgConnection
  readonly #lease: PgLease

  constructor(session: Session.PgConnection, lease: PgLease) {
    this.#session = session
    this.#lease = lease
  }

  /** After `replyTimeout` the connection is closed, whether the statement runs or is being cancelled. */
  #run<A>(
    operation: PgOperation,
    statement: Effect.Effect<A, SqlError.SqlError>,
    withinMillis?: number,
  ): Effect.Effect<A, SqlError.SqlError> {
    return Effect.suspend(() => {
      const watch = this.#lease.expectAnswer(withinMillis)
      return Effect.onExit(
        Effect.mapError(statement, (error) => {
          const failure = toSqlError(error, { operation, isLate: watch.isLate })
          if (isLasting(failure)) this.#lease.discard()
          return failure
        }),
        () => Effect.sync(watch.stop),
      )
    })
  }

  execute(text: string, parameters: Parameters, transformRows: TransformRows, isPrepared = true) {
    return Effect.map(
      this.executeRaw(text, parameters, isPrepared),
      ({ rows }): ReadonlyArray<SqlConnection.Row> => transformRows?.(rows) ?? rows,
    )
  }

  executeUnprepared(text: string, parameters: Parameters, transformRows: TransformRows) {
    return this.execute(text, parameters, transformRows, false)
  }

  executeRaw(text: string, parameters: Parameters, isPrepared = true) {
    const query = Effect.suspend(() => this.#session.query(text, asTexts(parameters), isPrepared))
    return this.#run("execute", query)
  }

  executeValues(text: string, parameters: Parameters, isPrepared = true) {
    const query = Effect.suspend(() => this.#session.queryValues(text, asTexts(parameters), isPrepared))
    return this.#run("execute", query)
  }

  executeValuesUnprepared(text: string, parameters: Parameters) {
    return this.executeValues(text, parameters, false)
  }

  /** Refused: a stream has no single answer whose time could be limited. */
  executeStream(): Stream.Stream<never> {
    return Stream.die(new TypeError("Read large results piece by piece, by a cursor"))
  }

  /** Runs BEGIN, COMMIT and the like, unprepared. Returns the command that PostgreSQL reports. */
  control(text: string, operation: PgOperation): Effect.Effect<string, SqlError.SqlError> {
    return Effect.map(this.#run(operation, this.#session.query(text, [], false)), ({ command }) => command)
  }

  /** Its first columns say whether the server is a standby, and why it cannot be used. */
  setUp(text: string) {
    return Effect.map(this.#run("connect", this.#session.queryValues(text, [], false)), ([row]) => ({
      isStandby: row?.[0] === true,
      refused: unfit(row?.[1]),
    }))
  }

  /** Listens until the scope closes. The stream fails when the connection is lost. */
  listen(
    channel: string,
  ): Effect.Effect<Stream.Stream<string, SqlError.SqlError>, SqlError.SqlError, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      // The driver ends it by UNLISTEN and waits for the answer without a limit. Ending the lease
      // first closes the connection instead.
      const listening = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Effect.andThen(this.close, Scope.close(listening, exit)))
      const notifications = yield* this.#run(
        "execute",
        Scope.provide(this.#session.listen(channel), listening),
      )
      return Stream.fromQueue(notifications).pipe(
        Stream.map(({ payload }) => payload),
        Stream.mapError((error) => toSqlError(error, { operation: "execute", isLate: false })),
      )
    })
  }

  get sound(): Effect.Effect<void, SqlError.SqlError> {
    return Effect.asVoid(this.#run("execute", this.#session.query("SELECT", [], true), SOUND_MILLIS))
  }

  get close(): Effect.Effect<void> {
    return this.#lease.close
  }
}

/** Whether later statements on the connection would fail too. */
const isLasting = ({ reason }: SqlError.SqlError): boolean =>
  reason.cause instanceof PgFailure && outlivesStatement(reason.cause.code, reason.cause.routine)
