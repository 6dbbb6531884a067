import { type Reader, record, refused } from "../config/Reader.ts"

const RANGE = /^(@)?(?:(~|-?\d+(?:\.\d+)?)?(:))?(-?\d+(?:\.\d+)?)?$/

/**
 * A threshold in the notation of the plugins: `10` is bad outside 0 to 10, `10:` below 10, `~:10`
 * above 10, `10:20` outside, and `@10:20` inside.
 */
export class Range {
  readonly text: string
  readonly #low: number
  readonly #high: number
  readonly #isInside: boolean

  private constructor(text: string, [low, high]: readonly [number, number], isInside: boolean) {
    this.text = text
    this.#low = low
    this.#high = high
    this.#isInside = isInside
  }

  /** `undefined` for what is no range. */
  static parse(text: string): Range | undefined {
    const match = RANGE.exec(text)
    const [, inside, start, colon, end] = match ?? []
    if (match === null || (start === undefined && end === undefined)) return undefined
    const low = start === "~" ? Number.NEGATIVE_INFINITY : Number(start ?? 0)
    const high = end === undefined ? Number.POSITIVE_INFINITY : Number(end)
    if (low > high || (colon === undefined && end === undefined)) return undefined
    return new Range(text, [low, high], inside === "@")
  }

  /** Whether a value is bad. Both ends belong to the range. */
  isBad(value: number): boolean {
    const isWithin = value >= this.#low && value <= this.#high
    return this.#isInside ? isWithin : !isWithin
  }

  /** Whether every value that is bad by this range is bad by the other, which has more: this one then never shows. */
  isInside(other: Range): boolean {
    const ends = [this.#low, this.#high, other.#low, other.#high].filter(Number.isFinite)
    const sorted = ends.toSorted((a, b) => a - b)
    const values = sorted.flatMap((end, at) => [end, (end + (sorted[at + 1] ?? end + 2)) / 2])
    const all = [...values, (sorted[0] ?? 0) - 1]
    return (
      all.every((value) => !this.isBad(value) || other.isBad(value)) &&
      all.some((value) => !this.isBad(value) && other.isBad(value))
    )
  }

  toJSON(): string {
    return this.text
  }
}

/** Thresholds of one figure. */
export interface Thresholds {
  readonly warning?: Range | undefined
  readonly critical?: Range | undefined
}

/** Thresholds that a probe has by itself. */
export const thresholdsOf = (warning: string | undefined, critical: string): Thresholds => ({
  warning: warning === undefined ? undefined : Range.parse(warning),
  critical: Range.parse(critical),
})

/** The thresholds of a configuration, or the probe's own where it has none. */
export const givenOr = ({ warning, critical }: Thresholds, own: Thresholds): Thresholds =>
  warning === undefined && critical === undefined ? own : { warning, critical }

/** A threshold; YAML reads a plain one as a number. */
const range: Reader<Range> = (value, place) => {
  const written = typeof value === "number" ? String(value) : value
  const found = typeof written === "string" ? Range.parse(written) : undefined
  return found ?? refused(place, 'must be a range such as "10", "10:", "~:10", "10:20" or "@10:20"')
}

/** Thresholds of one figure. */
export const thresholdFields = { warning: range, critical: range }
export const thresholds = record(thresholdFields)

const SCALED = /(\d+(?:\.\d+)?)([A-Za-z]*)/g

/** A threshold whose numbers may have units. */
const scaledRange =
  (units: Readonly<Record<string, number>>, example: string): Reader<Range> =>
  (value, place) => {
    const scaled = String(value).replaceAll(SCALED, (whole, number: string, unit: string) =>
      unit === "" || units[unit] === undefined
        ? whole
        : String(Number((Number(number) * units[unit]).toFixed(5))),
    )
    const found = ["string", "number"].includes(typeof value) ? Range.parse(scaled) : undefined
    const names = Object.keys(units).join(", ")
    return found ?? refused(place, `must be a range such as ${example}; units are ${names}`)
  }

const bytes = scaledRange({ B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }, '"10GiB:"')
const age = scaledRange({ s: 1, m: 60, h: 3_600, d: 86_400 }, '"26h" or "5m:"')

const left = scaledRange({ m: 1 / 1_440, h: 1 / 24, d: 1 }, '"14:" or "36h:"')

/** Thresholds in bytes, in seconds, and in days that are left. */
export const byteThresholds = record({ warning: bytes, critical: bytes })
export const ageFields = { warning: age, critical: age }
export const leftFields = { warning: left, critical: left }
