import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import { numberFindings } from "../../src/commands/doctor/examineStorage.ts"

const AGENT = AgentId.make("a")

describe("bounds of numbers in tocsin doctor", () => {
  it("need attention where they are reached, five at most", () => {
    assert.deepStrictEqual(numberFindings({ all: false, agents: [], checks: [] }, 200), [])
    const checks = Array.from({ length: 9 }, (_, index) => [AGENT, CheckId.make(`c${index}`)] as const)
    const findings = numberFindings({ all: true, agents: [AGENT], checks }, 200)
    assert.deepStrictEqual(
      findings.map(({ check }) => check),
      ["numbers", "numbers of a", ...["c0", "c1", "c2"].map((check) => `numbers of a/${check}`)],
    )
  })
})
