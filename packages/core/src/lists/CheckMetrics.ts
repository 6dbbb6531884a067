import { Context, Effect, Layer } from "effect"
import { readingCheckMetrics } from "../features/checkMetrics/checkMetrics.ts"
import { lastNumbers } from "../features/numbers/lastNumbers.ts"
import { NumberMemory } from "../features/numbers/NumberMemory.ts"
import { Hashing } from "../kernel/ports/Hashing.ts"
import { Storage } from "../kernel/ports/Storage.ts"

/** All checks as metrics state them, and the last values of their series (docs/rules.md#metrics-of-checks). */
export class CheckMetrics extends Context.Service<CheckMetrics>()("@tocsin/core/lists/CheckMetrics", {
  make: Effect.gen(function* () {
    const { sha256 } = yield* Hashing
    return { checkMetrics: readingCheckMetrics(yield* Storage, sha256, lastNumbers(yield* NumberMemory)) }
  }),
}) {
  static readonly layer = Layer.provide(Layer.effect(CheckMetrics, CheckMetrics.make), NumberMemory.layer)
}
