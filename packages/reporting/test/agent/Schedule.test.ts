import { assert, describe, it } from "@effect/vitest"
import type { Answer } from "../../src/agent/Answer.ts"
import { Schedule } from "../../src/agent/Schedule.ts"

const NOW = Date.parse("2026-11-29T12:00:00Z")
const CHECKS = ["disk", "load"].map((check_id) => ({ check_id, every: "1m" }))
const sentBy = (schedule: Schedule): unknown => JSON.parse(schedule.declaration(NOW))
const refusal = (message: string): Answer => ({ verdict: "invalid", message })

describe("the list of an agent's checks", () => {
  it("has them all, and one whose terms the server refuses stands in it alone", () => {
    const schedule = new Schedule(CHECKS, true)
    const list = { complete: true, as_of: "2026-11-29T12:00:00.000Z" }
    assert.deepStrictEqual(sentBy(schedule), { ...list, checks: CHECKS })
    assert.isTrue(schedule.learn(refusal("checks[1].every must be at least 10s")))
    assert.deepStrictEqual(sentBy(schedule), { ...list, checks: [CHECKS[0], { check_id: "load" }] })
    // One that is refused again is asked for at the next declaration.
    assert.isFalse(schedule.learn(refusal("checks[1].check_id must be shorter")))
    assert.deepStrictEqual(sentBy(schedule), { ...list, checks: CHECKS })
  })

  it("is declared as before where as_of is refused, and until the next declaration", () => {
    const schedule = new Schedule(CHECKS, true)
    const answer = refusal("as_of is not a field")
    sentBy(schedule)
    assert.isTrue(schedule.learn(answer))
    assert.strictEqual(schedule.refused(answer), "")
    assert.deepStrictEqual(sentBy(schedule), { complete: true, checks: CHECKS })
    assert.isTrue(schedule.learn(refusal("checks[0].every must be at least 10s")))
    assert.deepStrictEqual(sentBy(schedule), { complete: true, checks: [CHECKS[1]] })
    assert.isFalse(schedule.learn({ verdict: "taken", message: "" }))
    assert.property(sentBy(schedule), "as_of")
  })

  it("is none of more than 1,000 checks, nor of a program", () => {
    const many = Array.from({ length: 1_001 }, (_, n) => ({ check_id: `check-${n}`, every: "1m" }))
    assert.notProperty(sentBy(new Schedule(many, true)), "as_of")
    assert.notProperty(sentBy(new Schedule(CHECKS)), "as_of")
  })
})
