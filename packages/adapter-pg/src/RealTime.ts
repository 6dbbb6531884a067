import { Clock, Duration, Effect } from "effect"

/** Waiting for a network is no rule of the service: it takes real time, also where the time of the rules stands still. */
const clock = Clock.Clock.defaultValue()

/** Pauses in real time. */
export const pause = (duration: Duration.Duration): Effect.Effect<void> => clock.sleep(duration)

/** Starts a stopwatch in real time: tells whether `duration` has passed since. */
export const stopwatch = (duration: Duration.Duration): Effect.Effect<() => boolean> =>
  Effect.sync(() => {
    const end = clock.monotonicTimeNanosUnsafe() + Duration.toNanosUnsafe(duration)
    return () => clock.monotonicTimeNanosUnsafe() >= end
  })

/** Lets an effect measure its time, and wait, in real time. */
export const inRealTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Clock.Clock, clock)
