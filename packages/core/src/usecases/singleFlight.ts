import { Deferred, Effect } from "effect"

/** Runs `effect` once for all callers that arrive while it runs. */
export const shared = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const scope = yield* Effect.scope
  let underWay: Deferred.Deferred<A, E> | undefined
  return Effect.suspend(() => {
    if (underWay !== undefined) return Deferred.await(underWay)
    const deferred = Deferred.makeUnsafe<A, E>()
    underWay = deferred
    const run = Effect.onExit(effect, (exit) => {
      underWay = undefined
      return Deferred.done(deferred, exit)
    })
    // In a separate fiber, because the first caller may be interrupted before the others.
    return Effect.andThen(Effect.forkIn(run, scope), Deferred.await(deferred))
  })
})
