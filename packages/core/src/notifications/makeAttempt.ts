import { Effect, Exit } from "effect"
import type { SendResult } from "../ports/Notifiers.ts"
import type { AttemptResult } from "./recordResults.ts"

/** Makes an attempt, which can be interrupted; there is a result in any case. */
export const makeAttempt = (attempt: Effect.Effect<SendResult>): Effect.Effect<AttemptResult> =>
  Effect.flatMap(Effect.exit(Effect.interruptible(attempt)), toResult)

const toResult = (exit: Exit.Exit<SendResult>): Effect.Effect<AttemptResult> =>
  Exit.match(exit, {
    onSuccess: Effect.succeed,
    onFailure: (cause): Effect.Effect<AttemptResult> =>
      Exit.hasInterrupts(exit)
        ? Effect.succeed({ outcome: "released" })
        : Effect.as(Effect.logError("a notifier failed unexpectedly; retrying the notification", cause), {
            outcome: "deferred",
            error: "the notifier failed unexpectedly; see the log",
          }),
  })
