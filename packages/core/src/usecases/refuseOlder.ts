import { Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { isOlderRunning } from "../liveness/olderVersion.ts"
import type { Storage } from "../ports/Storage.ts"
import { StateConflict } from "./OperationErrors.ts"

const olderRuns = () =>
  new StateConflict({
    message:
      "a server of an older version runs on the same database and would ignore it: stop or upgrade that server, then try again",
  })

/**
 * Fails while a server runs that knows no acknowledgements, silences and policies: it would notify in
 * spite of them (docs/rules.md#older-versions).
 */
export const refuseOlder = Effect.fnUntraced(function* ({ mark }: Pick<Storage["Service"], "mark">) {
  if (isOlderRunning(yield* mark, yield* Instant.now)) return yield* olderRuns()
})
