import { Duration, Effect } from "effect"

const BETWEEN_LOOKS = Duration.millis(20)

/**
 * Polls until there is a value other than `undefined` and `false`. Dies with the name of the
 * condition if that takes longer than `within`.
 */
export const until = <A, E, R>(
  what: string,
  look: Effect.Effect<A | undefined | false, E, R>,
  within: Duration.Input = "2 minutes",
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    for (;;) {
      const found = yield* look
      if (found !== undefined && found !== false) return found
      yield* Effect.sleep(BETWEEN_LOOKS)
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: within,
      orElse: () => Effect.die(new Error(`waited in vain until ${what}`)),
    }),
  )
