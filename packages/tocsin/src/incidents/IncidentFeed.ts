import { Storage } from "@tocsin/core/ports/Storage"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import { ChangeBuffer } from "./ChangeBuffer.ts"
import { type IncidentChange, incidentChangeOf } from "./IncidentChange.ts"

// Some hundred kilobytes for each subscriber at most.
const CHANGES_KEPT = 1_000

type Told = Omit<IncidentChange, "missed">

/**
 * Incident changes that this process commits, for a live view. At most once each, in commit order as this process sees it:
 * nothing from before the subscription, nothing that another process committed, and where a subscriber is more than 1,000
 * changes behind the oldest are dropped and counted. What must not be missed belongs to a notifier, which the outbox serves
 * at least once.
 */
export class IncidentFeed extends Context.Service<
  IncidentFeed,
  {
    /** Subscribes from now on until the scope closes. Ends when the service stops. */
    readonly subscribe: Effect.Effect<ChangeBuffer, never, Scope.Scope>
    /** The same as a stream: each run subscribes when it begins. */
    readonly changes: Stream.Stream<IncidentChange>
  }
>()("tocsin/incidents/IncidentFeed") {
  /** Watches a storage: changes are told of transactions through the Storage that this layer provides. */
  static readonly layer: Layer.Layer<IncidentFeed | Storage, never, Storage> = Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* Storage
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
      const publish = (changes: ReadonlyArray<Told>) =>
        Effect.sync(() => {
          for (const subscriber of subscribers) for (const change of changes) subscriber.offer(change)
        })
      const transactWatched = <A>(command: Command<A>) =>
        Effect.suspend(() => {
          let changes: ReadonlyArray<Told> = []
          const watched: Command<A> = function* (workspace, now) {
            // Commands of one group share the workspace.
            const changed = workspace.incidents.record()
            const reply = yield* command(workspace, now)
            changes = changed().flatMap(({ before, after }) =>
              after === undefined ? [] : (incidentChangeOf(before, after) ?? []),
            )
            return reply
          }
          return Effect.tap(storage.transact(watched), () => publish(changes))
        })
      const watchedStorage = Storage.of({
        ...storage,
        transact: (command) =>
          Effect.suspend(() =>
            subscribers.size === 0 ? storage.transact(command) : transactWatched(command),
          ),
      })
      return Context.make(
        IncidentFeed,
        IncidentFeed.of({
          subscribe,
          changes: Stream.unwrap(Effect.map(subscribe, (buffer) => Stream.fromEffectRepeat(buffer.take))),
        }),
      ).pipe(Context.add(Storage, watchedStorage))
    }),
  )
}
