import { Duration, Effect, Layer, Schedule } from "effect"
import { keepRepeating } from "../kernel/engine/commits/keepRepeating.ts"
import { CurrentOperator, systemOperator } from "../kernel/ports/CurrentOperator.ts"
import { idlePause } from "../kernel/ports/IdlePause.ts"
import { PolicySource } from "../heart/usecases/PolicySource.ts"
import { Policies } from "./Policies.ts"
import { StoredSecrets } from "./StoredSecrets.ts"

// A policy that was applied is in force everywhere within 5 s (docs/rules.md#a-stored-policy).
const FOLLOW_EVERY = Duration.seconds(3)

/**
 * Encrypts stored secrets again that only the second key opens, and puts what others apply in force here, until the
 * layer closes.
 */
export const policyFollower: Layer.Layer<never, never, Policies | StoredSecrets> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { follow, lookForBrowsers } = yield* Policies
    const { encryptAgain } = yield* StoredSecrets
    yield* Effect.forkScoped(Effect.retry(encryptAgain, Schedule.spaced(FOLLOW_EVERY)))
    const looking = Effect.andThen(lookForBrowsers, idlePause(FOLLOW_EVERY))
    yield* Effect.forkScoped(
      keepRepeating(
        Effect.provideService(looking, CurrentOperator, systemOperator),
        "cannot look for browsers; wait until the storage recovers",
        idlePause(FOLLOW_EVERY),
      ),
    )
    if ((yield* PolicySource).source === "given") return
    const pause = idlePause(FOLLOW_EVERY)
    const round = Effect.andThen(Effect.provideService(follow, CurrentOperator, systemOperator), pause)
    const complaint = "looking for another policy failed; Tocsin will retry"
    yield* Effect.forkScoped(keepRepeating(round, complaint, pause))
  }),
)
