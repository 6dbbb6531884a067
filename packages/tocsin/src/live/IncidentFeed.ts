import { Commits } from "@tocsin/core/engine/commits/Commits"
import { Cause, Context, Effect, Layer, type Scope, Stream } from "effect"
import { type IncidentChange, incidentChangeOf } from "./IncidentChange.ts"

/**
 * The changes that one subscriber has not taken yet: at most `capacity`. The oldest give way, so
 * that a slow subscriber costs bounded memory and delays nobody.
 */
class ChangeBuffer {
  readonly #capacity: number
  readonly #changes: Array<Omit<IncidentChange, "missed">> = []
  #missed = 0
  #hasEnded = false
  #wake: (() => void) | undefined

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Adds a change; drops the oldest if it is full. */
  offer(change: Omit<IncidentChange, "missed">): void {
    if (this.#changes.length === this.#capacity) {
      this.#changes.shift()
      this.#missed += 1
    }
    this.#changes.push(change)
    this.#wake?.()
  }

  /** Ends it; remaining changes can still be taken. */
  end(): void {
    this.#hasEnded = true
    this.#wake?.()
  }

  /**
   * Takes the oldest change, or waits for one; done once it has ended and is empty. One taker at a
   * time.
   */
  readonly take: Effect.Effect<IncidentChange, Cause.Done> = Effect.callback((resume) => {
    const settle = (): boolean => {
      const change = this.#changes.shift()
      if (change === undefined && !this.#hasEnded) return false
      const missed = this.#missed
      this.#missed = 0
      this.#wake = undefined
      resume(change === undefined ? Cause.done() : Effect.succeed({ ...change, missed }))
      return true
    }
    if (!settle()) this.#wake = settle
    return Effect.sync(() => {
      this.#wake = undefined
    })
  })
}

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
