import { Console, Context, Effect } from "effect"

/** Where a logger leaves its lines, while they are to be written together. */
export const LinesTogether = Context.Reference<Array<string> | undefined>(
  "@tocsin/core/kernel/engine/LinesTogether",
  { defaultValue: () => undefined },
)

/**
 * Runs an effect that only logs. Lines on standard error go out by one call, before it ends; it is not interrupted.
 * Each call waits for its write.
 */
export const logTogether = (logging: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const write = Effect.suspend(() => (lines.length > 0 ? Console.error(lines.join("\n")) : Effect.void))
    return Effect.uninterruptible(
      Effect.ensuring(Effect.provideService(logging, LinesTogether, lines), write),
    )
  })
