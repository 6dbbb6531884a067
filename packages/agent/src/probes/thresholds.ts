import { Range } from "@tocsin/contract/formats/Range"
import { type Reader, record, refused } from "../config/Reader.ts"

/** Thresholds of one figure. */
export interface Thresholds {
  readonly warning?: Range | undefined
  readonly critical?: Range | undefined
}

/** Thresholds that a probe has by itself. */
export const thresholdsOf = (warning: string | undefined, critical: string | undefined): Thresholds => ({
  warning: warning === undefined ? undefined : Range.parse(warning),
  critical: critical === undefined ? undefined : Range.parse(critical),
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
