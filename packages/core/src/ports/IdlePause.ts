import { Context, type Duration, Effect } from "effect"

/**
 * How a loop pauses that found nothing to do and will find nothing until a moment that the stored rows tell. A clock that
 * a test moves by hand lets such loops sleep through whole rounds; everywhere else this is a sleep.
 */
export const IdlePause = Context.Reference<(every: Duration.Duration) => Effect.Effect<void>>(
  "@tocsin/core/ports/IdlePause",
  { defaultValue: () => Effect.sleep },
)

/** Pauses an idle loop until its next round. */
export const idlePause = (every: Duration.Duration): Effect.Effect<void> =>
  Effect.flatMap(IdlePause, (pause) => pause(every))
