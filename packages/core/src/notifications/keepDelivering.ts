import { Cause, Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import { idlePause } from "../ports/IdlePause.ts"
import { Storage } from "../ports/Storage.ts"
import { OutboxSignal } from "./OutboxSignal.ts"

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

/** The state of the outbox before a claim that found too little. */
interface Looked {
  /** How many times it may have changed. */
  readonly seen: number
  readonly at: Instant.Instant
}

/**
 * Waits until the outbox changes, an item of these receivers is due, or the next poll. Counts from before the
 * claim: a later time would pass over an item that fell due in between.
 */
export const waitForMore = Effect.fnUntraced(function* (
  receivers: ReadonlyArray<NotifierName>,
  { at, seen }: Looked,
) {
  const storage = yield* Storage
  const signal = yield* OutboxSignal
  const untilDue = yield* storage.untilNextDue(receivers, at)
  const passed = Duration.micros((yield* Instant.now) - at)
  const wait =
    untilDue !== undefined && Duration.isLessThan(untilDue, POLL_EVERY)
      ? Effect.sleep(
          Duration.clamp(Duration.subtract(untilDue, passed), { minimum: Duration.zero, maximum: untilDue }),
        )
      : idlePause(POLL_EVERY)
  yield* Effect.race(signal.after(seen), wait)
})
