import { Context, Deferred, Effect, Layer } from "effect"
import { Commits } from "../engine/commits/Commits.ts"

/** Wakes the workers that wait for the outbox to change: in this process and, by hints, in others. */
export class OutboxSignal extends Context.Service<
  OutboxSignal,
  {
    /** How many times the outbox may have changed so far. */
    readonly count: Effect.Effect<number>
    /** Waits until it may have changed more often than `seen` times. */
    readonly after: (seen: number) => Effect.Effect<void>
    readonly raise: Effect.Effect<void>
  }
>()("@tocsin/core/notifications/OutboxSignal") {
  static readonly layer: Layer.Layer<OutboxSignal, never, Commits> = Layer.effect(
    OutboxSignal,
    Effect.gen(function* () {
      let count = 0
      let next = Deferred.makeUnsafe<void>()
      const raise = () => {
        const raised = next
        count += 1
        next = Deferred.makeUnsafe<void>()
        Deferred.doneUnsafe(raised, Effect.void)
      }
      const { listen } = yield* Commits
      yield* listen({
        committed: ({ isOutboxChanged }) => {
          if (isOutboxChanged) raise()
        },
        hinted: raise,
      })
      return OutboxSignal.of({
        count: Effect.sync(() => count),
        after: (seen) => Effect.suspend(() => (count > seen ? Effect.void : Deferred.await(next))),
        raise: Effect.sync(raise),
      })
    }),
  )
}
