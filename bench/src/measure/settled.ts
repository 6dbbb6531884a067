import { Duration, Effect, Schedule } from "effect"
import { BenchFailure } from "../BenchFailure.ts"

const REEVALUATE_EVERY = Duration.millis(250)
const LIMIT = Duration.minutes(5)
const STILL_LOOKS = 12

/** Looks until it is settled, or fails with a message. */
const settle = <A>(
  look: Effect.Effect<A, BenchFailure>,
  isSettled: (seen: A) => boolean,
  tooLong: () => string,
): Effect.Effect<A, BenchFailure> =>
  look.pipe(
    Effect.repeat({
      schedule: Schedule.spaced(REEVALUATE_EVERY),
      times: Duration.toMillis(LIMIT) / Duration.toMillis(REEVALUATE_EVERY),
      until: isSettled,
    }),
    Effect.filterOrFail(isSettled, () => new BenchFailure({ message: tooLong() })),
  )

const LIMIT_TEXT = `${Duration.toSeconds(LIMIT)} s`

/**
 * Waits until nothing more is stored. Returns how much was, and when the last of it. Fails after 300 s: a
 * rate of what was stored so far would be wrong.
 */
export const drained = Effect.fnUntraced(function* (
  name: string,
  stored: Effect.Effect<number, BenchFailure>,
) {
  let [last, at, still] = [-1, performance.now(), 0]
  const look = Effect.tap(stored, (count) =>
    Effect.sync(() => {
      still = count === last ? still + 1 : 0
      if (count !== last) at = performance.now()
      last = count
    }),
  )
  yield* settle(
    look,
    () => still >= STILL_LOOKS,
    () =>
      `${name} still stores results after ${LIMIT_TEXT} (${last} so far): measure with a shorter --seconds, or on a faster disk`,
  )
  return { count: last, at }
})

/**
 * Waits until no notification is left, by a page of those that are pending. Fails after 300 s: the others
 * would burden what is measured next.
 */
export const notified = (
  name: string,
  pending: Effect.Effect<string, BenchFailure>,
): Effect.Effect<string, BenchFailure> =>
  settle(
    pending,
    (page) => page.startsWith('{"items":[]'),
    () =>
      `${name} still has notifications to send after ${LIMIT_TEXT}: measure with a shorter --seconds, and see its log for failed attempts`,
  )
