import { assert, describe, it } from "@effect/vitest"
import {
  counter,
  Counters,
  Histogram,
  histogram,
  Histograms,
} from "../../../../src/kernel/engine/metrics/Counters.ts"

describe("Histogram", () => {
  it("puts a value into the first bucket whose bound it does not exceed, beyond all into the last", () => {
    const values = new Histogram([0.1, 1, 10])
    for (const value of [0, 0.1, 0.100001, 1, 5, 10, 11, 1e9]) values.observe(value)
    assert.deepStrictEqual(values.read().counts, [2, 2, 2, 2])
    assert.closeTo(values.read().sum, 1e9 + 27.200001, 1e-3)
  })

  it("never takes anything from its sum, whatever a clock that is set back makes", () => {
    const values = new Histogram([1])
    values.observe(2)
    values.observe(-3)
    assert.deepStrictEqual(values.read(), { counts: [1, 1], sum: 2 })
  })
})

describe("counters and histograms of a metric", () => {
  it("exist for each combination of labels, and from the start if there are no labels", () => {
    const counters = new Counters(counter("a_total", "A", ["x", "y"]))
    counters.of("1", "2").value += 1
    counters.of("1", "2").value += 1
    counters.of("12", "").value += 5
    assert.deepStrictEqual(counters.read().readings, [
      { labels: ["1", "2"], value: 2 },
      { labels: ["12", ""], value: 5 },
    ])
    assert.deepStrictEqual(new Counters(counter("b_total", "B")).read().readings, [{ labels: [], value: 0 }])
    const [reading] = new Histograms(histogram("c_seconds", "C", [1])).read().readings
    assert.deepStrictEqual(reading, { labels: [], value: { counts: [0, 0], sum: 0 } })
  })

  it("of known values are 0 before anything happens", () => {
    const counters = new Counters(counter("a_total", "A", ["x"]))
    const { good } = counters.forEach(["good", "bad"])
    good.value += 3
    assert.deepStrictEqual(counters.read().readings, [
      { labels: ["good"], value: 3 },
      { labels: ["bad"], value: 0 },
    ])
  })
})
