import { Clock, Duration, Effect } from "effect"

/** Waiting for a network takes real time, also in tests whose clock stands still. */
const clock = Clock.Clock.defaultValue()

export const pause = (duration: Duration.Duration): Effect.Effect<void> => clock.sleep(duration)

/** Starts a stopwatch in real time: the result says whether `duration` has passed. */
export const stopwatch = (duration: Duration.Duration): Effect.Effect<() => boolean> =>
  Effect.sync(() => {
    const end = clock.monotonicTimeNanosUnsafe() + Duration.toNanosUnsafe(duration)
    return () => clock.monotonicTimeNanosUnsafe() >= end
  })

export const inRealTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Clock.Clock, clock)
