import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { stretchesOf } from "../../src/format/historyStrip.ts"

const START = Date.parse("2026-01-01T00:00:00Z")
const END = START + 86_400_000

const changes = fc
  .uniqueArray(fc.integer({ min: -86_400, max: 86_399 }), { maxLength: 40 })
  .chain((seconds) =>
    fc.tuple(
      ...seconds.map((each) =>
        fc.record({ each: fc.constant(each), status: fc.constantFrom("ok", "critical") }),
      ),
    ),
  )
  .map((list) =>
    list.map(({ each, status }) => ({ observed_at: new Date(START + each * 1_000).toISOString(), status })),
  )

describe("the strip of a check's history", () => {
  it("has no gap and no overlap, ends now, and is true to time", () => {
    fc.assert(
      fc.property(changes, (list) => {
        const stretches = stretchesOf(list, { start: START, end: END })
        for (const [index, { from, to, since }] of stretches.entries()) {
          assert.isBelow(from, to)
          assert.strictEqual(to, stretches[index + 1]?.from ?? 1)
          assert.closeTo(from, Math.max(0, (Date.parse(since) - START) / (END - START)), 1e-9)
        }
        assert.strictEqual(stretches.length > 0, list.length > 0)
      }),
    )
  })
})
