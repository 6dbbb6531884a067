import { Effect, Layer } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { isOlderRunning, olderSeenAt } from "../liveness/olderVersion.ts"
import { isEmptyPolicy } from "@tocsin/contract/PolicyDocument"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"

/**
 * Whether a server that knows no policies runs beside one that starts with a policy. After an upgrade the last mark of
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

/**
 * Fails a start with a policy beside a server of an older version, with the error of the program that
 * starts (docs/rules.md#older-versions).
 */
export const refuseBesideOlder = <E>(
  error: E,
): Layer.Layer<never, E | StorageError, PolicyInForce | Storage> =>
  Layer.effectDiscard(
    Effect.flatMap(startsBesideOlder, (isBeside) => (isBeside ? Effect.fail(error) : Effect.void)),
  )
