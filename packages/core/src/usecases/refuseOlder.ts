import { Effect, Layer } from "effect"
import * as Instant from "../contract/Instant.ts"
import { isOlderRunning, olderSeenAt } from "../liveness/olderVersion.ts"
import { isEmptyPolicy } from "../policy/PolicyDocument.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
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

/**
 * Whether such a server runs beside one that starts with a policy. After an upgrade the last mark of
 * the former server may be seconds old: then it waits whether another one follows.
 */
const startsBesideOlder = Effect.gen(function* () {
  const { document } = (yield* PolicyInForce).current()
  if (isEmptyPolicy(document)) return false
  const storage = yield* Storage
  const found = olderSeenAt(yield* storage.mark)
  for (;;) {
    const mark = yield* storage.mark
    if (!isOlderRunning(mark, yield* Instant.now)) return false
    if (olderSeenAt(mark) !== found) return true
    yield* Effect.sleep("1 second")
  }
})

/** Fails a start with a policy beside such a server, with the error of the program that starts. */
export const refuseBesideOlder = <E>(
  error: E,
): Layer.Layer<never, E | StorageError, PolicyInForce | Storage> =>
  Layer.effectDiscard(
    Effect.flatMap(startsBesideOlder, (isBeside) => (isBeside ? Effect.fail(error) : Effect.void)),
  )
