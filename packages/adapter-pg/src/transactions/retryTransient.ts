import type { StorageError } from "@tocsin/core/ports/Storage"
import { Clock, Duration, Effect, Random, Result } from "effect"
import type { SqlError } from "effect/sql"
import { sqlStateOf, toStorageError } from "../toStorageError.ts"

/** Beyond the connections of a usual pool: a server that restarted has cut them all, and each has to be found out. */
const MAX_ATTEMPTS = 12

/** A lost race is over within milliseconds. */
const FIRST_PAUSE_MILLIS = 2

/** So that all attempts together stay well below what callers wait for. */
const LONGEST_PAUSE_MILLIS = 150

/** Waiting for a network is no rule of the service: it takes real time, also where tests stand still. */
const realClock = Clock.Clock.defaultValue()

/** Pauses in real time. */
export const pause = (millis: number): Effect.Effect<void> => realClock.sleep(Duration.millis(millis))

/** Full jitter: what collided once spreads over the whole pause. */
const pauseAfter = (attempt: number): Effect.Effect<void> => {
  const longest = Math.min(FIRST_PAUSE_MILLIS * 2 ** attempt, LONGEST_PAUSE_MILLIS)
  return Effect.flatMap(Random.nextBetween(0, longest), pause)
}

/**
 * Whether nothing of the transaction was kept and another attempt may go well: it lost a race, was a deadlock's victim, or
 * lost its connection before COMMIT. A database that takes no connections or no writes is not asked again at once.
 */
const isTransient = (error: SqlError.SqlError): boolean => {
  const { _tag, operation } = error.reason
  switch (_tag) {
    case "DeadlockError":
    case "SerializationError":
    case "UniqueViolation":
      return true
    case "ConnectionError":
      return operation !== "connect" && sqlStateOf(error) !== READ_ONLY_TRANSACTION
    default:
      return false
  }
}

const READ_ONLY_TRANSACTION = "25006"

/** Makes attempts until one ends otherwise than by a transient failure, within bounds. */
export const retryTransient = Effect.fnUntraced(function* <A>(
  attempt: Effect.Effect<A, SqlError.SqlError | StorageError>,
): Effect.fn.Return<A, StorageError> {
  for (let made = 1; ; made++) {
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) return result.success
    const error = result.failure
    if (error._tag === "StorageError") return yield* error
    if (made === MAX_ATTEMPTS || !isTransient(error)) return yield* toStorageError(error)
    yield* pauseAfter(made)
  }
})
