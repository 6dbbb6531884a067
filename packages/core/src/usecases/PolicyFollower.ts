import { Duration, Effect, Layer } from "effect"
import { CurrentOperator, systemOperator } from "../ports/CurrentOperator.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { PolicySource } from "../ports/PolicySource.ts"
import { Policies } from "./Policies.ts"

// A policy that was applied is in force everywhere within 5 s (docs/rules.md#a-stored-policy).
const FOLLOW_EVERY = Duration.seconds(3)

/** Puts what others apply in force here, until the layer closes. */
export const layer: Layer.Layer<never, never, Policies> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { follow } = yield* Policies
    if ((yield* PolicySource).source === "given") return
    const round = follow.pipe(
      Effect.provideService(CurrentOperator, systemOperator),
      Effect.catchCause((cause) =>
        Effect.logWarning("looking for another policy failed; Tocsin will retry", cause),
      ),
      Effect.andThen(idlePause(FOLLOW_EVERY)),
    )
    yield* Effect.forkScoped(Effect.forever(round))
  }),
)
