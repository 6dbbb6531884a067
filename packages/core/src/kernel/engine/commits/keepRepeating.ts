import { Cause, Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"

const AFTER_FAILURE = Duration.seconds(1)
/** In an outage every round fails, and the log must not fill the disk. */
const LOG_AGAIN_AFTER = Duration.minutes(1)

/**
 * Repeats `round` forever: background work must survive one bad moment. A failure or a bug is logged with
 * `complaint` and the `count` of those since the last line, and the next round begins after `pause`. One
 * that stays the same is logged again after a minute.
 */
export const keepRepeating = <E, R>(
  round: Effect.Effect<unknown, E, R>,
  complaint: string,
  pause: Effect.Effect<unknown> = Effect.sleep(AFTER_FAILURE),
): Effect.Effect<never, never, R> =>
  Effect.suspend(() => {
    let logged: { readonly text: string; readonly at: Instant.Instant } | undefined
    let count = 0
    const note = Effect.fnUntraced(function* (cause: Cause.Cause<E>) {
      const text = String(Cause.squash(cause))
      const at = yield* Instant.now
      count += 1
      if (text === logged?.text && Instant.isRecent(logged.at, LOG_AGAIN_AFTER, at)) return
      yield* Effect.annotateLogs(Effect.logWarning(complaint, cause), { count })
      logged = { text, at }
      count = 0
    })
    const succeeded = Effect.sync(() => {
      logged = undefined
      count = 0
    })
    return Effect.forever(
      Effect.catchCause(Effect.andThen(round, succeeded), (cause) => Effect.andThen(note(cause), pause)),
    )
  })
