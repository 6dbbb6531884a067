import { Effect, Option, Scope } from "effect"

/** Connections of a pool: how many are open, and when the last one was begun, by `performance.now`. */
export interface Opened {
  count: number
  lastAt: number
}

/** Counts what lives in the current scope, from its beginning. */
export const counted = (open: Opened): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.serviceOption(Scope.Scope),
    Option.match({
      onNone: () => Effect.void,
      onSome: (scope) => {
        open.count++
        open.lastAt = performance.now()
        return Scope.addFinalizer(
          scope,
          Effect.sync(() => {
            open.count--
          }),
        )
      },
    }),
  )
