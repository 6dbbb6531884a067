import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { allFaults } from "./allFaults.ts"
import { renderPage } from "./page.ts"
import { processFaults } from "./process.ts"
import { readResults } from "./Results.ts"
import { runFault } from "./runFault.ts"

describe("npm run faults", () => {
  it.live("kills a server under load, and finds that nothing is lost and all is notified", () =>
    Effect.gen(function* () {
      const [kill] = processFaults
      if (kill === undefined) return assert.fail("there is no fault")
      const verdict = yield* runFault(kill, { setup: "sqlite", rounds: 1, seed: 1, postgres: undefined })
      assert.deepInclude(verdict, { lost: [], duplicated: [], outOfOrder: [], wronglyNotified: [] })
      assert.isAbove(verdict.acknowledged, 0)
      assert.isAbove(verdict.unanswered, 0)
      assert.isDefined(verdict.worstRecoveryMillis)
    }),
  )

  it("names each fault once", () => {
    const names = allFaults.flatMap(({ faults }) => faults.map(({ name }) => name))
    assert.deepStrictEqual(names, Array.from(new Set(names)))
  })

  it("keeps its results in docs/reliability.md", () => {
    const results = readResults(readFileSync("test/faults/results.jsonl", "utf8"))
    const page = readFileSync("docs/reliability.md", "utf8")
    assert.strictEqual(page, renderPage(page, allFaults, results))
  })
})
