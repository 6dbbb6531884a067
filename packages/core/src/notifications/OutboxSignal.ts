import { Context, Deferred, Effect, Layer, Cause, Duration } from "effect"
import { Commits } from "../engine/commits/Commits.ts"
import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import { idlePause } from "../ports/IdlePause.ts"
import { Storage } from "../ports/Storage.ts"

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

// A poll without a signal: another process may have died, or its hint been lost.
const POLL_EVERY = Duration.seconds(15)
const AFTER_FAILURE = Duration.seconds(1)

/** A failure that stays the same is logged again after so many rounds, a minute or more. */
const LOG_EVERY = 60

/**
 * Repeats `round` forever. After a failure or a bug it waits a second: a worker must survive one bad
 * moment. In an outage every round fails, and the log must not fill the disk.
 */
export const keepDelivering = <E, R>(
  round: Effect.Effect<void, E, R>,
  complaint: string,
): Effect.Effect<never, never, R> =>
  Effect.suspend(() => {
    let logged: string | undefined
    let count = 0
    const note = (cause: Cause.Cause<E>) => {
      const text = String(Cause.squash(cause))
      count += 1
      if (text === logged && count < LOG_EVERY) return Effect.void
      const line = Effect.annotateLogs(Effect.logWarning(complaint, cause), { count })
      logged = text
      count = 0
      return line
    }
    const succeeded = Effect.sync(() => {
      logged = undefined
      count = 0
    })
    return Effect.forever(
      Effect.catchCause(Effect.andThen(round, succeeded), (cause) =>
        Effect.andThen(note(cause), Effect.sleep(AFTER_FAILURE)),
      ),
    )
  })

/**
 * Waits until the outbox changes, an item of a receiver is due, or the next poll. `seen` and `at` are the count
 * of changes and the time before the claim: later ones would pass over an item that fell due in between.
 */
export const waitForMore = Effect.fnUntraced(function* (
  receiver: NotifierName,
  { at, seen }: { readonly seen: number; readonly at: Instant.Instant },
) {
  const storage = yield* Storage
  const signal = yield* OutboxSignal
  const untilDue = yield* storage.untilNextDue([receiver], at)
  const passed = Duration.micros((yield* Instant.now) - at)
  const wait =
    untilDue !== undefined && Duration.isLessThan(untilDue, POLL_EVERY)
      ? Effect.sleep(
          Duration.clamp(Duration.subtract(untilDue, passed), { minimum: Duration.zero, maximum: untilDue }),
        )
      : idlePause(POLL_EVERY)
  yield* Effect.race(signal.after(seen), wait)
})
