import { assert, describe, it } from "@effect/vitest"
import { reopenTrials } from "@tocsin/testing/model/reopenSuite"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { BROKEN, GOOD } from "./BrokenStores.ts"

/** Whether a storage fails a test of the suite of all storages; none is tried after that. */
const fails = Effect.fnUntraced(function* (subject: typeof GOOD) {
  for (const trial of Object.values(reopenTrials)) {
    const tried = trial(subject).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
    if (Exit.isFailure(yield* Effect.exit(tried))) return true
  }
  return false
})

describe("the suite of all storages", () => {
  it.effect("passes a storage that loads its entries in another order", () =>
    Effect.map(fails(GOOD), (isFailed) => assert.isFalse(isFailed)),
  )
  for (const subject of BROKEN)
    it.effect(`fails a storage that ${subject.name}`, () =>
      Effect.map(fails(subject), (isFailed) => assert.isTrue(isFailed)),
    )

  it("has many to fail", () => assert.isAtLeast(BROKEN.length, 10))
})
