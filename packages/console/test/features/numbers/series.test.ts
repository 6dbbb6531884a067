import { assert, describe, it } from "@effect/vitest"
import {
  boundsIn,
  chartsOf,
  lanesOf,
  nearest,
  rangeOf,
  rangesOf,
  readingAt,
  smallLineOf,
} from "../../../src/features/numbers/series.ts"
import { numberText } from "@tocsin/contract/formats/numberText"

const START = Date.parse("2026-01-01T00:00:00Z")
const MINUTE = 60_000

const series = (name: string, unit: string, minutes: ReadonlyArray<number>, count = 1) => ({
  name,
  unit,
  spans: minutes.map((minute) => ({
    at: new Date(START + minute * MINUTE).toISOString(),
    count,
    min: minute - 1,
    max: minute + 1,
    mean: minute,
    last: minute,
  })),
})

const END = START + 120 * MINUTE

describe("charts of numbers", () => {
  it("one for each unit, the duration alone and last, with the names as people count", () => {
    const named = (unit: string, names: ReadonlyArray<string>) => names.map((name) => series(name, unit, [5]))
    const all = [...named("s", ["duration", "rtmax", "rta"]), ...named("", ["load10", "load2"])]
    const charts = chartsOf({ step: "5m", series: all }, END)
    assert.deepStrictEqual(
      charts.map(({ unit, lines }) => [unit, lines.map(({ name }) => name)]),
      [
        ["", ["load2", "load10"]],
        ["s", ["rta", "rtmax"]],
        ["s", ["duration"]],
      ],
    )
  })

  it("of a watch has a line for each place, and so has the small one", () => {
    const placed = ["oslo", "berlin"].map((place) => ({ ...series("duration", "s", [5, 10]), place }))
    const all = { step: "5m", series: [...placed, series("days", "d", [5])] } as const
    const charts = chartsOf(all, END)
    assert.deepStrictEqual(
      charts.at(-1)?.lines.map(({ name }) => name),
      ["berlin", "oslo"],
    )
    assert.containSubset(smallLineOf({ step: "5m", series: placed }, [], END), { name: "berlin", last: 10 })
  })

  it("a time without values is a gap, and a check that seldom reports has none", () => {
    const [gap] = chartsOf({ step: "5m", series: [series("a", "", [0, 5, 10, 60, 65])] }, END)
    assert.deepStrictEqual(gap?.lines[0]?.mean, [0, 5, 10, null, 60, 65])
    assert.deepStrictEqual(gap?.measured, [0, 1, 2, 4, 5])
    const [seldom] = chartsOf({ step: "5m", series: [series("a", "", [0, 30, 60])] }, END)
    assert.deepStrictEqual(seldom?.lines[0]?.mean, [0, 30, 60])
  })

  it("a long time between few values is a gap, by how often the others came", () => {
    const meansOf = (minutes: ReadonlyArray<number>, count?: number) =>
      chartsOf({ step: "5m", series: [series("a", "", minutes, count)] }, END)[0]?.lines[0]?.mean
    assert.deepStrictEqual(meansOf([0, 10, 110]), [0, 10, null, 110])
    assert.deepStrictEqual(meansOf([0, 100], 5), [0, null, 100])
    assert.deepStrictEqual(meansOf([0, 100]), [0, 100])
  })

  it("the nearest measured time has the values, not one within a gap", () => {
    const [chart] = chartsOf({ step: "5m", series: [series("a", "s", [0, 5, 10, 90])] }, END)
    assert.isDefined(chart)
    const place = nearest(chart, START + 45 * MINUTE)
    assert.strictEqual(chart.times[place], START + 12.5 * MINUTE)
    const [line] = chart.lines
    assert.isDefined(line)
    assert.deepStrictEqual(readingAt(line, place, "s"), {
      name: "a",
      colour: "line-0",
      value: "10 s",
      range: "9 s to 11 s",
    })
  })

  it("the ends of ranges are bounds with the side that is bad, in sight unless they are far", () => {
    const sides = (range: string | null) => boundsIn(range).map(({ side, value }) => `${side} ${value}`)
    assert.deepStrictEqual(["80", "10:20", "~:5", "@1:2", "@~:3", "9:", "", null].map(sides), [
      ["above 80"],
      ["below 10", "above 20"],
      ["above 5"],
      ["from 1", "to 2"],
      ["to 3"],
      ["below 9"],
      [],
      [],
    ])
    const levels = (warn: string, crit: string) => Object.values(rangesOf({ warn, crit })).join(" ")
    // check_ssl_cert 2.49 states the days that are left so.
    assert.strictEqual(levels("20", "15"), "15: 20:")
    assert.deepStrictEqual([levels("15", "20"), levels("9:", "5"), levels("", "5")], ["20 15", "5 9:", "5 "])
    const [chart] = chartsOf({ step: "5m", series: [series("used", "%", [41])] }, END)
    assert.isDefined(chart)
    assert.deepStrictEqual(rangeOf(chart, [80, 90]), [0, 97.2])
    assert.isBelow(rangeOf(chart, [1_000])[1], 50)
    const zero = { at: new Date(START).toISOString(), count: 1, min: 0, max: 0, mean: 0, last: 0 }
    const [empty] = chartsOf({ step: "5m", series: [{ name: "backlog", unit: "", spans: [zero] }] }, END)
    assert.isDefined(empty)
    assert.deepStrictEqual(rangeOf(empty, []), [0, 1])
  })

  it("texts of bounds that are near stand apart, and lines beyond the colours have dashes", () => {
    const placed = lanesOf([91, 90, 89, 88, 87, 20], [0, 100])
    for (const [index, { isAbove, lane }] of placed.entries())
      for (const other of placed.slice(index + 1, 5))
        assert.isFalse(other.isAbove === isAbove && other.lane === lane)
    assert.strictEqual(placed.at(-1)?.lane, 0)
    const names = Array.from({ length: 19 }, (_, n) => `line ${n}`)
    const [chart] = chartsOf({ step: "5m", series: names.map((name) => series(name, "", [5])) }, END)
    const looks = new Set(chart?.lines.map(({ colour, dashes }) => `${colour} ${dashes}`))
    assert.strictEqual(looks.size, 19)
  })

  it("the small line is of the series that is bad, or else of the first one", () => {
    const numbers = {
      step: "5m",
      series: ["load1", "load5", "load15"].map((name) => series(name, "", [5])),
    } as const
    let last = 5
    const lineOf = (
      ...bounds: ReadonlyArray<readonly [name: string, warn: string | null, crit: string | null]>
    ) =>
      smallLineOf(
        numbers,
        bounds.map(([name, warn, crit]) => ({
          name,
          unit: "",
          last,
          last_at: new Date(START).toISOString(),
          warn,
          crit,
          min: null,
          max: null,
        })),
        END,
      )?.name
    assert.strictEqual(lineOf(), "load1")
    last = -5
    assert.strictEqual(lineOf(["load5", null, null]), "load1")
    last = 5
    assert.strictEqual(lineOf(["load1", "8", "10"], ["load5", "5", "~:6"]), "load1")
    assert.strictEqual(lineOf(["load1", "4", null], ["load5", "3", "7"], ["load15", "2", "4"]), "load15")
    assert.strictEqual(lineOf(["load1", "4:", "3:"], ["load5", "@1:4", "@4:6"]), "load5")
    assert.strictEqual(lineOf(["load1", "4", "3"], ["load5", "7", "6"]), "load5")
    assert.strictEqual(lineOf(["load1", "~:5", "5:10"], ["load15", "6:", null]), "load15")
  })

  it("units are as people write them", () => {
    const written = [
      [0, "B"],
      [1_536, "B"],
      [-3 * 1_024 ** 3, "B"],
      [0.0000021, "s"],
      [0.25, "s"],
      [90, "s"],
      [5_400, "s"],
      [86_400 * 12, "s"],
      [41.257, "%"],
      [1_234_567, "rpm"],
      [0.31, ""],
    ] as const
    assert.deepStrictEqual(
      written.map(([value, unit]) => numberText(value, unit)),
      "0 B|1.5 KiB|-3 GiB|2.1 µs|250 ms|90 s|90 min|12 d|41.26 %|1.235M rpm|0.31".split("|"),
    )
  })
})
