import { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"
import { SERVER_RUN } from "../tables/makeTable.ts"
import { sqlStateOf } from "../toStorageError.ts"
import type { TransactionRef } from "./persistChanges.ts"

/**
 * A server ends the transaction of a lost client within milliseconds, unless COMMIT waits for a
 * standby.
 */
const ASK_EVERY = Duration.millis(100)

/** About as long as callers wait. */
const ASK_FOR = Duration.seconds(8)

/**
 * The state of a transaction, and the run of the server that answers. A standby does not know it
 * yet.
 */
const findTransactionStatus = `SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status($1::xid8) END AS status,
         ${SERVER_RUN} AS server_run`

/**
 * Answer of `pg_xact_status` for an id that the server has not assigned, or not since it lost the
 * end of its log.
 */
const NOT_GIVEN_OUT = "22023"

type Answer = "committed" | "aborted" | "in progress" | "unknown"

/**
 * Finds out, on another connection, whether a transaction committed whose connection was lost
 * during COMMIT. Fails if there is no answer in time.
 */
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
