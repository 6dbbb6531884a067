import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { availabilityOf, barsOf, stretchesOf, timeInStates } from "../../src/format/historyStrip.ts"

const START = Date.parse("2026-01-01T00:00:00Z")
const END = START + 86_400_000
const SPAN = { start: START, end: END }

const phases = fc
  .uniqueArray(fc.integer({ min: -86_400, max: 86_399 }), { minLength: 1, maxLength: 40 })
  .chain((seconds) =>
    fc.tuple(
      ...seconds
        .toSorted((a, b) => a - b)
        .map((at) =>
          fc.record({
            from: fc.constant(new Date(START + at * 1_000).toISOString()),
            state: fc.constantFrom(
              "ok" as const,
              "critical" as const,
              "planned" as const,
              "no_data" as const,
            ),
          }),
        ),
    ),
  )

describe("the picture of a check's states", () => {
  it("has no gap and no overlap, ends now, and is true to time", () => {
    fc.assert(
      fc.property(phases, (list) => {
        const stretches = stretchesOf(list, SPAN)
        for (const [index, { from, to, since }] of stretches.entries()) {
          assert.isBelow(from, to)
          assert.strictEqual(to, stretches[index + 1]?.from ?? 1)
          assert.closeTo(from, (since - START) / (END - START), 1e-9)
        }
        assert.isAbove(stretches.length, 0)
      }),
    )
  })

  it("has no percentage of a check that only warned", () => {
    assert.isUndefined(availabilityOf(new Map([["warning", 60_000]])))
    assert.isUndefined(
      availabilityOf(
        new Map([
          ["warning", 60_000],
          ["no_data", 60_000],
        ]),
      ),
    )
    assert.strictEqual(
      availabilityOf(
        new Map([
          ["warning", 60_000],
          ["ok", 60_000],
        ]),
      ),
      "50.00",
    )
    assert.strictEqual(availabilityOf(new Map([["critical", 60_000]])), "0.00")
  })

  it("adds up to the span that is known, and is 100 per cent only if all of it is ok", () => {
    fc.assert(
      fc.property(phases, (list) => {
        const stretches = stretchesOf(list, SPAN)
        const times = timeInStates(stretches, SPAN)
        const sum = Array.from(times.values()).reduce((all, one) => all + one, 0)
        assert.closeTo(sum, (1 - (stretches[0]?.from ?? 1)) * (END - START), 1)
        const isOk = stretches.every(({ state }) => state !== "critical") && times.has("ok")
        assert.strictEqual(availabilityOf(times) === "100", isOk)
        if (!isOk) assert.match(availabilityOf(times) ?? "0.00", /^\d{1,2}\.\d\d$/)
      }),
    )
  })

  it("has the worst state of each hour as its bar, and a stub only where no data are known", () => {
    fc.assert(
      fc.property(phases, (list) => {
        const stretches = stretchesOf(list, SPAN)
        const known = stretches.filter(({ state }, index) => index > 0 || state !== "no_data")
        const bars = barsOf(stretches, 24)
        assert.lengthOf(bars, 24)
        for (const [hour, state] of bars.entries()) {
          const [from, to] = [START + hour * 3_600_000, START + (hour + 1) * 3_600_000]
          const states: ReadonlyArray<string> = known
            .filter(({ since }, index) => since < to && (known[index + 1]?.since ?? END) > from)
            .map((stretch) => stretch.state)
          const worst = ["critical", "planned", "no_data", "ok"].find((each) => states.includes(each))
          assert.strictEqual(state, worst ?? "no_data")
        }
      }),
    )
  })
})
