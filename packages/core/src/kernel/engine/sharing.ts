import { Duration, Effect, Fiber } from "effect"

/**
 * Makes effects that run once for all concurrent callers, and never after the scope has closed. No result is kept: the
 * end of a time from now on may be long to come once the clock is set back.
 */
export const sharing = Effect.map(
  Effect.scope,
  (scope) =>
    <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Effect.Effect<A, E>> =>
      Effect.map(Effect.cachedWithTTL(effect, Duration.negativeInfinity), (cached) =>
        Effect.flatMap(Effect.forkIn(cached, scope), Fiber.join),
      ),
)
