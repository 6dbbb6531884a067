import { type Duration, Effect } from "effect"

const FIRST_PAUSE_MILLIS = 20
const LONGEST_PAUSE_MILLIS = 100

/**
 * Polls until there is a value other than `undefined` and `false`, less often the longer that takes: each look at a
 * server costs several milliseconds of processor time. Dies with the name of the condition if that takes longer than
 * `within`.
 */
export const until = <A, E, R>(
  what: string,
  look: Effect.Effect<A | undefined | false, E, R>,
  within: Duration.Input = "10 minutes",
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    for (let pause = FIRST_PAUSE_MILLIS; ; pause = Math.min(1.25 * pause, LONGEST_PAUSE_MILLIS)) {
      const found = yield* look
      if (found !== undefined && found !== false) return found
      yield* Effect.sleep(pause)
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: within,
      orElse: () => Effect.die(new Error(`waited in vain until ${what}`)),
    }),
  )
