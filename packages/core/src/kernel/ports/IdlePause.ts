import { Context, type Duration, Effect } from "effect"

/** A sleep; with a test's clock, idle loops skip whole rounds. */
export const IdlePause = Context.Reference<(every: Duration.Duration) => Effect.Effect<void>>(
  "@tocsin/core/kernel/ports/IdlePause",
  { defaultValue: () => Effect.sleep },
)

export const idlePause = (every: Duration.Duration): Effect.Effect<void> =>
  Effect.flatMap(IdlePause, (pause) => pause(every))
