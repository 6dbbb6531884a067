import { Context, Deferred, Effect, Layer, Stream } from "effect"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { Storage } from "../../kernel/ports/Storage.ts"

/** Wakes the workers that wait for the outbox to change: in this process and, by hints, in others. */
export class OutboxSignal extends Context.Service<OutboxSignal>()(
  "@tocsin/core/heart/notifications/OutboxSignal",
  {
    make: Effect.gen(function* () {
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
      })
      const { hints } = yield* Storage
      yield* Effect.forkScoped(Stream.runForEach(hints, () => Effect.sync(raise)))
      return {
        /** How many times the outbox may have changed so far. */
        count: Effect.sync(() => count),
        /** Waits until it may have changed more often than `seen` times. */
        after: (seen: number) => Effect.suspend(() => (count > seen ? Effect.void : Deferred.await(next))),
        raise: Effect.sync(raise),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(OutboxSignal, OutboxSignal.make)
}
