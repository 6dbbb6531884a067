import { Duration, Effect, Layer, Schedule } from "effect"
import { keepRepeating } from "../engine/commits/keepRepeating.ts"
import { CurrentOperator, systemOperator } from "../ports/CurrentOperator.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { PolicySource } from "../ports/PolicySource.ts"
import { Policies } from "./Policies.ts"

// A policy that was applied is in force everywhere within 5 s (docs/rules.md#a-stored-policy).
const FOLLOW_EVERY = Duration.seconds(3)

/**
 * Encrypts stored secrets again that only the second key opens, and puts what others apply in force here, until the
 * layer closes.
 */
export const policyFollower: Layer.Layer<never, never, Policies> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { follow, secrets } = yield* Policies
    yield* Effect.forkScoped(Effect.retry(secrets.encryptAgain, Schedule.spaced(FOLLOW_EVERY)))
    if ((yield* PolicySource).source === "given") return
    const pause = idlePause(FOLLOW_EVERY)
    const round = Effect.andThen(Effect.provideService(follow, CurrentOperator, systemOperator), pause)
    const complaint = "looking for another policy failed; Tocsin will retry"
    yield* Effect.forkScoped(keepRepeating(round, complaint, pause))
  }),
)
