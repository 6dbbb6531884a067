import type { StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect, Random, Result } from "effect"
import type { SqlError } from "effect/sql"
import * as RealTime from "../RealTime.ts"
import { isLostRace, sqlStateOf, toStorageError } from "../toStorageError.ts"

/**
 * More than the connections of a usual pool: after a restart of the server each of them fails once.
 */
const MAX_ATTEMPTS = 12

/**
 * Half of what callers wait for. An attempt that waited longer for a lock or a connection is not
 * repeated.
 */
const RETRY_FOR = Duration.seconds(5)

/** A lost race is over within milliseconds. */
const FIRST_PAUSE_MILLIS = 2

/** Keeps the sum of all pauses well below a second. */
const LONGEST_PAUSE_MILLIS = 150

const READ_ONLY_TRANSACTION = "25006"

/** Full jitter: commands that collided spread over the whole pause. */
const pauseAfter = (attempt: number): Effect.Effect<void> => {
  const longest = Math.min(FIRST_PAUSE_MILLIS * 2 ** attempt, LONGEST_PAUSE_MILLIS)
  return Effect.flatMap(Random.nextBetween(0, longest), (millis) => RealTime.pause(Duration.millis(millis)))
}

/**
 * Whether the transaction was rolled back and another attempt may succeed: it lost a race, or its
 * connection before COMMIT. A database that refuses connections or writes is not retried.
 */
const isTransient = (error: SqlError.SqlError): boolean => {
  const { _tag, operation } = error.reason
  const isLostConnection =
    _tag === "ConnectionError" && operation !== "connect" && sqlStateOf(error) !== READ_ONLY_TRANSACTION
  return isLostConnection || isLostRace(error)
}

/** Repeats an attempt that fails transiently, within limits. */
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
