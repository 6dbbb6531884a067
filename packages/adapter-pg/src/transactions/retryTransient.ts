import type { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect, Random, Result } from "effect"
import type { SqlError } from "effect/sql"
import * as RealTime from "../RealTime.ts"
import { isLostRace, sqlStateOf, toStorageError } from "../toStorageError.ts"

/** Beyond the connections of a usual pool: a server that restarted has cut them all, and each has to be found out. */
const MAX_ATTEMPTS = 12

/** Half of what callers wait for: who has waited longer for a lock or a connection does not start anew. */
const RETRY_FOR = Duration.seconds(5)

/** A lost race is over within milliseconds. */
const FIRST_PAUSE_MILLIS = 2

/** So that all pauses together stay well below a second. */
const LONGEST_PAUSE_MILLIS = 150

const READ_ONLY_TRANSACTION = "25006"

/** Full jitter: what collided once spreads over the whole pause. */
const pauseAfter = (attempt: number): Effect.Effect<void> => {
  const longest = Math.min(FIRST_PAUSE_MILLIS * 2 ** attempt, LONGEST_PAUSE_MILLIS)
  return Effect.flatMap(Random.nextBetween(0, longest), (millis) => RealTime.pause(Duration.millis(millis)))
}

/**
 * Whether nothing of the transaction was kept and another attempt may go well: it lost a race, or its connection before
 * COMMIT. A database that takes no connections or no writes is not asked again at once.
 */
const isTransient = (error: SqlError.SqlError): boolean => {
  const { _tag, operation } = error.reason
  const isLostConnection =
    _tag === "ConnectionError" && operation !== "connect" && sqlStateOf(error) !== READ_ONLY_TRANSACTION
  return isLostConnection || isLostRace(error)
}

/** Makes attempts until one ends otherwise than by a transient failure, within bounds. */
export const retryTransient = Effect.fnUntraced(function* <A>(
  attempt: Effect.Effect<A, SqlError.SqlError | StorageError>,
): Effect.fn.Return<A, StorageError> {
  const isOver = yield* RealTime.stopwatch(RETRY_FOR)
  for (let made = 1; ; made++) {
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) return result.success
    const error = result.failure
    if (error._tag === "StorageError") return yield* error
    if (made === MAX_ATTEMPTS || isOver() || !isTransient(error)) return yield* toStorageError(error)
    yield* pauseAfter(made)
  }
})
