import type { Numbers, SeriesOfCheck } from "@tocsin/client"
import { numberText } from "@tocsin/contract/formats/numberText"
import { Range } from "@tocsin/contract/formats/Range"
import { naturally } from "../../state/names.ts"

type Series = Numbers["series"][number]
/** A series with the bounds that its newest output states. */
export type Stated = SeriesOfCheck["items"][number]

/** Values by time; null where there is none. */
export interface Line {
  readonly name: string
  /** The name of its colour in the style sheet. */
  readonly colour: string
  /** Which of the kinds of dashes it has: lines beyond the colours differ by these. */
  readonly dashes: number
  readonly mean: ReadonlyArray<number | null>
  readonly min: ReadonlyArray<number | null>
  readonly max: ReadonlyArray<number | null>
}

/** The series of one unit, on one axis; how long the check ran has its own. */
export interface Chart {
  readonly unit: string
  readonly times: ReadonlyArray<number>
  /** The places of times with a value; the others are within gaps. */
  readonly measured: ReadonlyArray<number>
  readonly lines: ReadonlyArray<Line>
  /** Whether it says how long the check ran. */
  readonly isDuration: boolean
}

const DAY = 86_400_000
const STEPS = { "5m": 300_000, "1h": 3_600_000, "1d": DAY } as const

/** A check that reports less often than each step has no gap between its values: only a longer time is one. */
const LONGEST_PAUSE = 2.5

/**
 * The middles of gaps. Most spans with several values are of a check that reports within a step; without these, the
 * shorter one of two pauses in the middle is the usual one, as the longer one of few may be a gap.
 */
const gapsIn = (times: ReadonlyArray<number>, severalAt: ReadonlySet<number>, step: number) => {
  const pauses = times.slice(1).map((at, index) => at - (times[index] ?? at))
  const middle = pauses.toSorted((a, b) => a - b)[Math.floor((pauses.length - 1) / 2)] ?? 0
  const usual = severalAt.size * 2 >= times.length ? step : middle
  return pauses.flatMap((pause, index) =>
    pause > LONGEST_PAUSE * usual ? [(times[index] ?? 0) + pause / 2] : [],
  )
}

/** How long the check itself took: not what it measured, so it shares no axis, and comes last. */
const isDuration = ({ name }: Pick<Series, "name">): boolean => name === "duration"
/** How a line is called: that of a place has the name of the place. */
const nameOf = ({ name, place = name }: Series): string => place
const COLOURS = 6

/** A chart of series: each span stands at its middle, the last one not after `end`. */
const chartOf = (unit: string, step: Numbers["step"], series: ReadonlyArray<Series>, end: number): Chart => {
  const placeOf = (at: string) => Math.min(Date.parse(at) + STEPS[step] / 2, end)
  const known = series.map(({ spans }) => new Map(spans.map((span) => [placeOf(span.at), span])))
  const all = new Set(known.flatMap((spans) => Array.from(spans.keys())))
  const inOrder = Array.from(all).toSorted((a, b) => a - b)
  const several = known.flatMap((spans) => Array.from(spans, ([at, { count }]) => (count > 1 ? [at] : [])))
  const gaps = gapsIn(inOrder, new Set(several.flat()), STEPS[step])
  const times = [...inOrder, ...gaps].toSorted((a, b) => a - b)
  const valuesOf = (index: number, part: "mean" | "min" | "max") =>
    times.map((at) => known[index]?.get(at)?.[part] ?? null)
  const lines = series.map((each, index) => ({
    name: nameOf(each),
    colour: `line-${index % COLOURS}`,
    dashes: Math.floor(index / COLOURS),
    mean: valuesOf(index, "mean"),
    min: valuesOf(index, "min"),
    max: valuesOf(index, "max"),
  }))
  const measured = times.flatMap((at, index) => (all.has(at) ? [index] : []))
  return { unit, times, measured, lines, isDuration: series.every(isDuration) }
}

/** One chart for each unit, and one of how long the check ran. */
export const chartsOf = ({ series, step }: Numbers, end: number): ReadonlyArray<Chart> =>
  [false, true].flatMap((isOwn) => {
    const some = series.filter((each) => isDuration(each) === isOwn).toSorted(naturally(nameOf))
    const units = Array.from(new Set(some.map(({ unit }) => unit)))
    return units.map((unit) =>
      chartOf(
        unit,
        step,
        some.filter((each) => each.unit === unit),
        end,
      ),
    )
  })

/** The place of the measured time that is nearest. */
export const nearest = ({ times, measured }: Chart, at: number): number => {
  const far = (index = 0) => Math.abs((times[index] ?? 0) - at)
  return measured.reduce((best, index) => (far(index) < far(best) ? index : best), measured[0] ?? 0)
}

/** The values of a line at a place, for people. */
export const readingAt = ({ name, colour, mean, min, max }: Line, index: number, unit: string) => {
  const [value, least, most] = [mean[index], min[index], max[index]]
  if (typeof value !== "number" || typeof least !== "number" || typeof most !== "number")
    return { name, colour, value: "–", range: "" }
  const [from, to] = [numberText(least, unit), numberText(most, unit)]
  return { name, colour, value: numberText(value, unit), range: from === to ? "" : `${from} to ${to}` }
}

/** A number at which a range begins or ends, and on which side of it values are bad. */
interface Bound {
  readonly value: number
  readonly side: "above" | "below" | "from" | "to"
}

/** The bounds of a range of plugins such as `80`, `10:20`, `~:5` or `@1:2`, the lower one first. */
export const boundsIn = (range: string | null | undefined): ReadonlyArray<Bound> => {
  const isInside = range?.startsWith("@") === true
  const ends = (range ?? "").replace(/^@/, "").split(":")
  return ends.flatMap((end, index) => {
    if (end === "" || end === "~" || !Number.isFinite(Number(end))) return []
    const isLast = index === ends.length - 1
    return [{ value: Number(end), side: isInside ? (isLast ? "to" : "from") : isLast ? "above" : "below" }]
  })
}

/** Bounds by their texts. Plain ones of which the critical one is less are lower ones: so do plugins state a rest. */
export const rangesOf = ({ crit, warn }: Pick<Stated, "crit" | "warn">): Pick<Stated, "crit" | "warn"> =>
  crit && warn && Number(crit) < Number(warn) ? { crit: `${crit}:`, warn: `${warn}:` } : { crit, warn }

/** The least distance of two texts on one side of their bounds, as a part of the height of a chart. */
const APART = 0.14

/**
 * Where the texts of bounds stand, in the order of their values: above and below in turn, and further in where two
 * on one side would overlap.
 */
export const lanesOf = (
  values: ReadonlyArray<number>,
  [low, high]: readonly [number, number],
): ReadonlyArray<{ readonly isAbove: boolean; readonly lane: number }> => {
  const taken: Array<{ readonly value: number; readonly isAbove: boolean; readonly lane: number }> = []
  for (const [index, value] of values.entries()) {
    const isAbove = index % 2 === 0
    const near = taken.filter(
      (other) => other.isAbove === isAbove && Math.abs(other.value - value) < APART * (high - low),
    )
    const lane = Math.max(-1, ...near.map((other) => other.lane)) + 1
    taken.push({ value, isAbove, lane })
  }
  return taken
}

/** The series that makes its check critical or else a warning, by the bounds of the newest output. */
const worstOf = (stated: ReadonlyArray<Stated>): Stated | undefined =>
  (["crit", "warn"] as const)
    .map((level) =>
      stated.find(
        ({ last, ...bounds }) =>
          last !== null && Range.parse(rangesOf(bounds)[level] ?? "")?.isBad(last) === true,
      ),
    )
    .find((series) => series !== undefined)

/** How far from the values, by their size, a bound is in sight: a further one would press them into a line. */
const FAR = 2

/** Where the axis of a chart begins and ends. */
export const rangeOf = ({ lines, unit }: Chart, bounds: ReadonlyArray<number>): readonly [number, number] => {
  const values = lines.flatMap(({ min, max }) => [...min, ...max]).filter((value) => value !== null)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const reach = FAR * Math.max(Math.abs(least), Math.abs(most))
  const near = bounds.filter((value) => value >= least - reach && value <= most + reach)
  const [low, high] = [Math.min(least, ...near), Math.max(most, ...near)]
  const begin = low >= 0 && low < high * 0.7 ? 0 : low
  // Values that differ by less were only added in another order.
  const isFlat = high - begin <= Math.abs(high) * 1e-6
  const room = isFlat ? Math.abs(high) * 0.1 || 1 : (high - begin) * 0.08
  const end = unit === "%" && high <= 100 ? Math.min(100, high + room) : high + room
  return [begin === 0 ? 0 : begin - room, end]
}

/** A share or a time says more of a check than a size or a count. */
const TELLING = ["%", "s"]

/** The series that is bad, or else the one that says most, as a line in a box of 100 by 20. */
export const smallLineOf = (numbers: Numbers, stated: ReadonlyArray<Stated>, end: number) => {
  const charts = chartsOf(numbers, end)
  const bad = worstOf(stated)
  const ofBad = charts.find(
    ({ lines, unit }) => unit === bad?.unit && lines.some(({ name }) => name === bad.name),
  )
  const telling = TELLING.flatMap((unit) => charts.filter((one) => one.unit === unit && !one.isDuration))
  const chart = ofBad ?? telling[0] ?? charts[0]
  const line = chart?.lines.find(({ name }) => name === bad?.name) ?? chart?.lines[0]
  if (chart === undefined || line === undefined) return undefined
  const { times, unit } = chart
  const values = line.mean.filter((value) => value !== null)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const parts = line.mean.map((value, index) => {
    if (value === null) return ""
    const x = 100 - (end - (times[index] ?? 0)) / (DAY / 100)
    const y = most > least ? 18 - ((value - least) / (most - least)) * 16 : 10
    return `${typeof line.mean[index - 1] === "number" ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}h0`
  })
  const drawn = numbers.series.find((series) => nameOf(series) === line.name && series.unit === unit)
  const last = drawn?.spans.at(-1)?.last
  return { name: line.name, unit, path: parts.join(""), least, most, last }
}
