import { assert, describe, it } from "@effect/vitest"
import { propertyRuns, propertySeed } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import { readInputs } from "./corpus.ts"
import { runRound } from "./runRound.ts"

const seed = propertySeed ?? Math.floor(Math.random() * 2 ** 31)

/** A busy machine sends fewer. */
const MOST_MILLIS = 60_000

describe("both paths of requests", () => {
  it.live(`withstand the corpus and mutations of it (PROPERTY_SEED=${seed})`, () =>
    Effect.gen(function* () {
      const until = performance.now() + MOST_MILLIS
      const count = propertyRuns(2_500)
      const { faults, sent } = yield* runRound({ seed, count, corpus: readInputs(), until })
      assert.deepStrictEqual(faults, [])
      assert.isAbove(sent, 0)
    }),
  )
})
