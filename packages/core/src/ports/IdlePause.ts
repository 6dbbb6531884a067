import { Context, type Duration, Effect } from "effect"

/**
 * How an idle loop pauses. With a test's clock, such loops skip whole rounds; otherwise this is a
 * sleep.
 */
export const IdlePause = Context.Reference<(every: Duration.Duration) => Effect.Effect<void>>(
  "@tocsin/core/ports/IdlePause",
  { defaultValue: () => Effect.sleep },
)

export const idlePause = (every: Duration.Duration): Effect.Effect<void> =>
  Effect.flatMap(IdlePause, (pause) => pause(every))
