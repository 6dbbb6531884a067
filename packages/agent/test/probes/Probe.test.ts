import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { judge, type Measure } from "../../src/probes/Probe.ts"
import { Range } from "@tocsin/contract/formats/Range"

const bound = fc.integer({ min: -50, max: 50 })

describe("a range", () => {
  it.each([
    ["10", [-1, 11], [0, 10]],
    ["10:", [9], [10, 1e9]],
    ["~:10", [11], [-1e9, 10]],
    ["10:20", [9, 21], [10, 20]],
    ["@10:20", [10, 20], [9, 21]],
    ["1.5", [1.6], [1.5]],
  ] as const)("%s is bad where the plugin guidelines say so", (text, bad, good) => {
    for (const value of bad) assert.isTrue(Range.parse(text)?.isBad(value), `${value}`)
    for (const value of good) assert.isFalse(Range.parse(text)?.isBad(value), `${value}`)
  })

  it("with @ is bad exactly where it is good without", () => {
    fc.assert(
      fc.property(bound, bound, bound, (a, b, value) => {
        const text = `${Math.min(a, b)}:${Math.max(a, b)}`
        assert.notStrictEqual(Range.parse(text)?.isBad(value), Range.parse(`@${text}`)?.isBad(value))
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it.each(["", ":", "~", "@", "x", "1:2:3", "2:1", "1e3", "10%"])("%j is refused", (text) => {
    assert.isUndefined(Range.parse(text))
  })
})

const measure = (label: string, value: number, more: Partial<Measure> = {}): Measure => ({
  label,
  value,
  unit: "%",
  words: `${label} is ${value}`,
  ...more,
})

describe("a finding", () => {
  it("is written as plugins do, the worst first", () => {
    const thresholds = { warning: Range.parse("20:"), critical: Range.parse("10:") }
    const found = judge("DISK", {
      words: "all well",
      measures: [measure("/ free", 15, { thresholds }), measure("size", 3, { unit: "B" })],
      faults: [{ status: "critical", words: "a|b\n c" }],
    })
    assert.deepStrictEqual(found, {
      status: "critical",
      exitCode: 2,
      output: "DISK CRITICAL - a/b c, / free is 15 | '/ free'=15%;20:;10: size=3B",
    })
    assert.strictEqual(judge("LOAD", { words: "fine", measures: [] }).output, "LOAD OK - fine")
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    "is unknown where a figure is %d, without thresholds too",
    (value) => {
      const thresholds = { critical: Range.parse("@0:5") }
      for (const more of [{}, { thresholds }]) {
        const { output } = judge("X", { words: "fine", measures: [measure("a", value, more)] })
        assert.match(output, /^X UNKNOWN - a is (NaN|Infinity) \| a=U/)
      }
    },
  )

  it("is as bad as its worst part, and one line", () => {
    const statuses = ["ok", "unknown", "warning", "critical"] as const
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...statuses.slice(1)), fc.string()), { maxLength: 5 }),
        (parts) => {
          const faults = parts.map(
            ([status, words]) => ({ status: status === "ok" ? "unknown" : status, words }) as const,
          )
          const { status, output } = judge("X", { words: "well", measures: [], faults })
          assert.strictEqual(
            statuses.indexOf(status),
            Math.max(0, ...faults.map((one) => statuses.indexOf(one.status))),
          )
          assert.notInclude(output, "\n")
          assert.notInclude(output, "|")
        },
      ),
      { numRuns: propertyRuns(100) },
    )
  })
})
