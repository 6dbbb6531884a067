import { assert, describe, it } from "@effect/vitest"
import { Duration, Result } from "effect"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const compiled = (document: object) =>
  compilePolicy(Result.getOrThrow(readPolicy(document, ["chat"])), ["chat"])

describe("a policy", () => {
  it("counts openings over the most that its routes ask for", () => {
    const route = (openings: number, within: string, after: string) => ({
      flapping: { openings, within, after },
    })
    const { flapping } = compiled({ routes: [route(3, "2h", "10m"), route(5, "1h", "5m")] })
    assert.deepStrictEqual(flapping, {
      openings: 5,
      within: Duration.hours(2),
      after: Duration.minutes(10),
    })
  })

  it("reads agents for its holds where a dependency compares what they report", () => {
    const reads = (more: object) =>
      compiled({ dependencies: [{ parent: ["check_id = uplink"], child: ["check_id = web"], ...more }] })
        .holdsReadAgents
    assert.isFalse(reads({ equal: ["agent_id"] }))
    assert.isTrue(reads({ equal: ["hostname"] }))
    assert.isTrue(reads({ equal: ["agent_id"], child: ["label:team = db"] }))
  })
})
