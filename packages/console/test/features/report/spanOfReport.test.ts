import { assert, describe, it } from "@effect/vitest"
import { monthsUntil, spanOfReport } from "../../../src/features/report/spanOfReport.ts"

const NOW = new Date(2026, 10, 29, 12, 3).getTime()
const local = (...at: ConstructorParameters<typeof Date> | readonly [number, number, number]) =>
  new Date(...(at as [number, number, number])).toISOString()
const FIVE = new Date(2026, 10, 29, 12, 0).toISOString()

describe("the span of a report", () => {
  it("is the present month so far, a past month as a whole, or days", () => {
    assert.deepStrictEqual(spanOfReport({}, NOW), { from: local(2026, 10, 1), to: FIVE })
    assert.deepStrictEqual(spanOfReport({ month: "2026-02" }, NOW), {
      from: local(2026, 1, 1),
      to: local(2026, 2, 1),
    })
    const days = { from: local(2026, 10, 2), to: local(2026, 10, 4) }
    assert.deepStrictEqual(spanOfReport(days, NOW), days)
    assert.deepStrictEqual(spanOfReport({ from: days.from }, NOW), { from: days.from, to: FIVE })
    assert.isUndefined(spanOfReport({ month: "2026-12" }, NOW))
    assert.isUndefined(spanOfReport({ from: days.to, to: days.from }, NOW))
  })

  it("offers the last twelve months", () => {
    const months = monthsUntil(NOW)
    assert.lengthOf(months, 12)
    assert.deepStrictEqual([months[0], months[10], months[11]], ["2026-11", "2026-01", "2025-12"])
  })
})
