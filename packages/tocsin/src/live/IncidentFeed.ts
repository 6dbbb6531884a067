import { Commits } from "@tocsin/core/engine/commits/Commits"
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import { ChangeBuffer } from "./ChangeBuffer.ts"
import { type IncidentChange, incidentChangeOf } from "./IncidentChange.ts"

// Some hundred kilobytes for each subscriber at most.
const CHANGES_KEPT = 1_000

/**
 * Incident changes that this process commits, for a live view: each at most once, in commit order.
 * It has none from before the subscription and none of other processes. For a subscriber more than
 * 1,000 changes behind, the oldest are dropped and counted. A notifier misses none: the outbox
 * delivers at least once.
 */
export class IncidentFeed extends Context.Service<
  IncidentFeed,
  {
    /** Subscribes from now on until the scope closes. Ends when the service stops. */
    readonly subscribe: Effect.Effect<ChangeBuffer, never, Scope.Scope>
    /** The same as a stream: each run subscribes when it begins. */
    readonly changes: Stream.Stream<IncidentChange>
  }
>()("tocsin/live/IncidentFeed") {
  static readonly layer: Layer.Layer<IncidentFeed, never, Commits> = Layer.effect(
    IncidentFeed,
    Effect.gen(function* () {
      const { listen } = yield* Commits
      const subscribers = new Set<ChangeBuffer>()
      const subscribe = Effect.acquireRelease(
        Effect.sync(() => {
          const buffer = new ChangeBuffer(CHANGES_KEPT)
          subscribers.add(buffer)
          return buffer
        }),
        (buffer) => Effect.sync(() => subscribers.delete(buffer)),
      )
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const subscriber of subscribers) subscriber.end()
        }),
      )
      yield* listen({
        committed: ({ incidents }) => {
          if (subscribers.size === 0) return
          for (const { before, after } of incidents) {
            const change = after && incidentChangeOf(before, after)
            if (change === undefined) continue
            for (const subscriber of subscribers) subscriber.offer(change)
          }
        },
      })
      return IncidentFeed.of({
        subscribe,
        changes: Stream.unwrap(Effect.map(subscribe, (buffer) => Stream.fromEffectRepeat(buffer.take))),
      })
    }),
  )
}
