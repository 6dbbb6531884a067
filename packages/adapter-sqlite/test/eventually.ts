import { Effect } from "effect"

/** Lets the event loop turn, timers included. */
export const turn: Effect.Effect<void> = Effect.callback((resume) => {
  setTimeout(() => resume(Effect.void), 1)
})

/** Looks at each turn of the event loop until what it sees is as awaited; the test's own timeout ends it. */
export const eventually = <A, E>(
  look: Effect.Effect<A, E>,
  isAwaited: (seen: A) => boolean,
): Effect.Effect<A, E> =>
  Effect.flatMap(look, (seen) =>
    isAwaited(seen) ? Effect.succeed(seen) : Effect.andThen(turn, eventually(look, isAwaited)),
  )
