import { Effect } from "effect"

/** Lets timers, sockets and other fibers have their turn. */
export const eventLoopTurn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

const pause = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 1)))

/** Asks until the answer is yes. */
export const eventually = <E, R>(question: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.asVoid(Effect.repeat(Effect.andThen(pause, question), { until: (answer) => answer }))
