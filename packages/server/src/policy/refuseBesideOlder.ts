import { startsBesideOlder } from "@tocsin/core/usecases/refuseOlder"
import { Effect, Layer } from "effect"
import { StartFailure } from "../StartFailure.ts"

const olderRuns = new StartFailure({
  message:
    "a server of an older version runs on the same database and would not follow the policy: stop or upgrade that server first, or unset SERVICE_POLICY_FILE",
})

/** Refuses to start with a policy beside a server of an older version (docs/rules.md#older-versions). */
export const refuseBesideOlder = Layer.effectDiscard(
  Effect.flatMap(startsBesideOlder, (isBeside) => (isBeside ? Effect.fail(olderRuns) : Effect.void)),
)
