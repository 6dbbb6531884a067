import * as Instant from "@tocsin/contract/formats/Instant"
import type { Command, Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Duration, Result } from "effect"
import type { SqlError } from "effect/sql"
import { type CommandDatabase, type Database, indexedTransaction, retryTransient } from "../Database.ts"
import * as RealTime from "../RealTime.ts"
import type { PgClient } from "../client/PgClient.ts"
import { SERVER_RUN } from "../tables/makeTable.ts"
import { sqlStateOf } from "../toStorageError.ts"
import { beginLoading, type Loading } from "./loadRows.ts"
import { type NewRows, persistChanges, type TransactionRef } from "./persistChanges.ts"
import { answerStep } from "./search.ts"

/** A server ends the transaction of a lost client within milliseconds, unless COMMIT waits for a standby. */
const ASK_EVERY = Duration.millis(100)

/** About as long as callers wait. */
const ASK_FOR = Duration.seconds(8)

/** The state of a transaction, and the run of the server that answers. A standby does not know it yet. */
const findTransactionStatus = `SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status($1::xid8) END AS status,
         ${SERVER_RUN} AS server_run`

/** The answer for an id that the server has not assigned, or not since it lost the end of its log. */
const NOT_GIVEN_OUT = "22023"

type Answer = "committed" | "aborted" | "in progress" | "unknown"

/** Finds out on another connection whether a transaction committed whose COMMIT got no answer. */
export const resolveUnknownCommit = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  ref: TransactionRef,
): Effect.fn.Return<"committed" | "aborted", StorageError> {
  const isOver = yield* RealTime.stopwatch(ASK_FOR)
  do {
    const answer = yield* ask(pg, ref)
    if (answer === "committed" || answer === "aborted") return answer
    if (answer === "unknown") break
    yield* RealTime.pause(ASK_EVERY)
  } while (!isOver())
  return yield* new StorageError({
    reason: "unavailable",
    isUnknown: true,
    message:
      "the connection to PostgreSQL was lost during a commit, which may have succeeded: check before you repeat the request",
  })
})

const ask = Effect.fnUntraced(function* (pg: PgClient["Service"], ref: TransactionRef) {
  const result = yield* Effect.result(pg.query(findTransactionStatus, [ref.transaction_id]))
  if (Result.isFailure(result)) return answerOfFailure(result.failure)
  const status = result.success[0]?.["status"]
  if (status === "aborted" || status === "in progress") return status
  // In another run the id may belong to another transaction. A committed id is never reused.
  const isSameRun = result.success[0]?.["server_run"] === ref.server_run
  return status === "committed" && isSameRun ? "committed" : "unknown"
})

const answerOfFailure = (error: SqlError.SqlError): Answer =>
  sqlStateOf(error) === NOT_GIVEN_OUT ? "aborted" : "in progress"

type Begin = <A>(
  database: Database,
  body: Effect.Effect<A, SqlError.SqlError>,
) => Effect.Effect<A, SqlError.SqlError>

/** The reply of a committed transaction, with the rows that it loaded and changed. */
export interface Committed<A> extends Loading {
  readonly reply: A
  /** Identifies the transaction; `undefined` if it wrote nothing. */
  readonly ref: TransactionRef | undefined
}

/** How a transaction begins, what it may assume of new rows, and what becomes of it. */
interface TransactionOptions<A, B> {
  readonly begin: Begin
  readonly newRows: NewRows
  /** Called once, as soon as it is known to be committed, also if its fiber was interrupted. */
  readonly onCommitted: (committed: Committed<A>) => B
}

/** If COMMIT gets no answer, or is interrupted, PostgreSQL is asked whether the transaction committed. */
export const commandTransaction = <A, B>(
  database: CommandDatabase,
  { begin, newRows, onCommitted }: TransactionOptions<A, B>,
  decide: (loading: Loading) => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<B, SqlError.SqlError | StorageError> =>
  database.announcer.attempt((announce) => {
    const { pg } = database
    /** The persisted result, as long as its commit is not confirmed. */
    let persisted: Committed<A> | undefined
    const body = Effect.tap(decideAndPersist(pg, newRows, decide), (written) => {
      persisted = written
      return written.unit.leavesDelivery ? announce(pg) : Effect.void
    })
    const settled = Effect.suspend(() => {
      // A decision that wrote nothing has nothing to lose.
      if (persisted?.ref === undefined) return Effect.succeed(persisted)
      return Effect.map(resolveUnknownCommit(pg, persisted.ref), (outcome) =>
        outcome === "committed" ? persisted : undefined,
      )
    })
    const committed = (decided: Committed<A>): B => {
      persisted = undefined
      return onCommitted(decided)
    }
    return Effect.catchIf(begin(database, body), isLostCommit, (error) =>
      Effect.flatMap(settled, (decided) =>
        decided === undefined ? Effect.fail(error) : Effect.succeed(decided),
      ),
    ).pipe(
      Effect.map(committed),
      Effect.onInterrupt(() =>
        Effect.ignore(Effect.map(settled, (decided) => decided && committed(decided))),
      ),
    )
  })

const decideAndPersist = Effect.fnUntraced(function* <A>(
  pg: PgClient["Service"],
  newRows: NewRows,
  decide: (loading: Loading) => Effect.Effect<A, SqlError.SqlError>,
): Effect.fn.Return<Committed<A>, SqlError.SqlError> {
  const loading = beginLoading(pg)
  const reply = yield* decide(loading)
  const ref = yield* persistChanges(pg, loading.unit.changes(), newRows)
  return { ...loading, reply, ref }
})

const isLostCommit = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" && reason.operation === "commit"

/** Runs a command alone in a transaction. `committed` gets its outcome, and makes the reply. */
export const transactAlone = <A>(
  database: CommandDatabase,
  command: Command<Outcome<A>>,
  committed: (outcome: Outcome<A>) => A,
): Effect.Effect<A, StorageError> =>
  retryTransient(
    commandTransaction(
      database,
      {
        begin: indexedTransaction,
        newRows: "upserted",
        onCommitted: ({ reply }: Committed<Outcome<A>>) => committed(reply),
      },
      (loading) => decideAlone(loading, command),
    ),
  )

const decideAlone = Effect.fnUntraced(function* <A>(loading: Loading, command: Command<A>) {
  const now = yield* Instant.now
  const decision = command(loading.unit, now)
  let step = decision.next()
  while (step.done !== true) step = decision.next(yield* answerStep(loading, step.value, now))
  return step.value
})
