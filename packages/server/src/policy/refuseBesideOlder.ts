import * as Instant from "@tocsin/core/contract/Instant"
import { isOlderRunning, olderSeenAt } from "@tocsin/core/liveness/olderVersion"
import { PolicyInForce } from "@tocsin/core/policy/PolicyInForce"
import { Storage } from "@tocsin/core/ports/Storage"
import { Effect, Layer } from "effect"
import { StartFailure } from "../StartFailure.ts"

/**
 * Refuses to start with a policy while a server of an older version runs, which would notify without
 * it (docs/rules.md#older-versions). After an upgrade the last mark of the former server may be
 * seconds old: then it waits whether another one follows.
 */
export const refuseBesideOlder = Layer.effectDiscard(
  Effect.gen(function* () {
    const { document } = (yield* PolicyInForce).current()
    if (Object.keys(document).length === 0) return
    const storage = yield* Storage
    const found = olderSeenAt(yield* storage.mark)
    for (;;) {
      const mark = yield* storage.mark
      if (!isOlderRunning(mark, yield* Instant.now)) return
      if (olderSeenAt(mark) !== found) return yield* olderRuns
      yield* Effect.sleep("1 second")
    }
  }),
)

const olderRuns = new StartFailure({
  message:
    "a server of an older version runs on the same database and would not follow the policy: stop or upgrade that server first, or unset SERVICE_POLICY_FILE",
})
