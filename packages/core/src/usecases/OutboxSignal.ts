import { Context, Deferred, Effect, Layer, Stream } from "effect"
import { Storage } from "../ports/Storage.ts"

/** Wakes those who wait for the outbox to change, in this process and, as far as the storage can tell, in others. */
export class OutboxSignal extends Context.Service<
  OutboxSignal,
  {
    /** How many times the outbox may have changed so far. */
    readonly count: Effect.Effect<number>
    /** Waits until it may have changed more often than `seen` times. */
    readonly after: (seen: number) => Effect.Effect<void>
    /** Says that it may have changed. */
    readonly raise: Effect.Effect<void>
  }
>()("@tocsin/core/usecases/OutboxSignal") {
  /** Watches a storage: whoever is built on the Storage of this layer raises the signal by changing the outbox. */
  static readonly layer: Layer.Layer<OutboxSignal | Storage, never, Storage> = Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* Storage
      let count = 0
      let next = Deferred.makeUnsafe<void>()
      const raiseUnsafe = () => {
        const raised = next
        count += 1
        next = Deferred.makeUnsafe<void>()
        Deferred.doneUnsafe(raised, Effect.void)
      }
      const raise = Effect.sync(raiseUnsafe)
      const watched = Storage.of({
        ...storage,
        transact: (command) =>
          Effect.suspend(() => {
            let touchesOutbox = false
            const observed: typeof command = function* (workspace, now) {
              const reply = yield* command(workspace, now)
              touchesOutbox = workspace.touchesOutbox
              return reply
            }
            return Effect.map(storage.transact(observed), (reply) => {
              if (touchesOutbox) raiseUnsafe()
              return reply
            })
          }),
      })
      yield* Effect.forkScoped(Stream.runForEach(storage.hints, () => raise))
      return Context.make(
        OutboxSignal,
        OutboxSignal.of({
          count: Effect.sync(() => count),
          after: (seen) => Effect.suspend(() => (count > seen ? Effect.void : Deferred.await(next))),
          raise,
        }),
      ).pipe(Context.add(Storage, watched))
    }),
  )
}
