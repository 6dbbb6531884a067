import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { numberFindings } from "../../../src/features/numbers/examineNumbers.ts"

const AGENT = AgentId.make("a")

describe("bounds of numbers in tocsin doctor", () => {
  it("need attention where they are reached, five at most", () => {
    assert.deepStrictEqual(numberFindings({ all: false, agents: [], checks: [] }, 200), [])
    const checks = Array.from({ length: 9 }, (_, index) => [AGENT, CheckId.make(`c${index}`), 20] as const)
    const findings = numberFindings({ all: true, agents: [AGENT], checks }, 200)
    assert.deepStrictEqual(
      findings.map(({ check }) => check),
      ["numbers", "numbers of a", ...["c0", "c1", "c2"].map((check) => `numbers of a/${check}`)],
    )
    assert.match(JSON.stringify(findings.at(-1)), /20 series, and 20 more that it states are not kept/)
  })
})
