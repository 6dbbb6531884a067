import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { confirmResult, softStateOf } from "../../src/checks/confirmResult.ts"
import type { CheckStatus } from "../../src/formats/Status.ts"

const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]
const status = fc.constantFrom(...STATUSES)
const limit = fc.integer({ min: 1, max: 5 })

/** Of each result, whether it is reported. */
const reportedOf = (
  statuses: ReadonlyArray<CheckStatus>,
  confirm: { readonly bad: number; readonly good: number } | undefined,
  last?: CheckStatus,
): ReadonlyArray<boolean> => {
  let state = softStateOf(last)
  return statuses.map((one) => {
    const next = confirmResult(state, one, confirm)
    state = next.state
    return next.isReported
  })
}

describe("confirmation", () => {
  it("reports a change after as many results in a row as it needs, however they differ among each other", () => {
    const scenario = ["ok", "critical", "ok", "warning", "critical", "unknown", "ok", "ok"] as const
    assert.deepStrictEqual(reportedOf(scenario, { bad: 3, good: 2 }), [
      true,
      false,
      true,
      false,
      false,
      true,
      false,
      true,
    ])
  })

  it("goes on from the last reported status after a restart", () => {
    assert.deepStrictEqual(reportedOf(["ok", "ok"], { bad: 1, good: 2 }, "critical"), [false, true])
    assert.deepStrictEqual(reportedOf(["critical"], { bad: 2, good: 1 }, undefined), [false])
  })

  it("reports everything without confirm", () => {
    fc.assert(
      fc.property(fc.array(status), (scenario) => reportedOf(scenario, undefined).every((one) => one)),
      { numRuns: propertyRuns(20) },
    )
  })

  it("turns only after enough results in a row, and no later", () => {
    fc.assert(
      fc.property(fc.array(status, { maxLength: 60 }), limit, limit, (scenario, bad, good) => {
        const reported = reportedOf(scenario, { bad, good })
        let isWell = true
        let run = 0
        for (const [index, one] of scenario.entries()) {
          const isOk = one === "ok"
          run = isOk === isWell ? 0 : run + 1
          const turns = run >= (isOk ? good : bad)
          assert.strictEqual(reported[index], run === 0 || turns, `result ${index} of ${scenario.join(" ")}`)
          if (!turns || run === 0) continue
          isWell = isOk
          run = 0
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
