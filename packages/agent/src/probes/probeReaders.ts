import { duration, type Place, type Reader, record, text } from "../config/Reader.ts"
import { Range } from "./Range.ts"

const refused = (place: Place, message: string): undefined => {
  place.refuse(message, place.path)
  return undefined
}

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
    const scaled = String(value).replaceAll(SCALED, (whole, figure: string, unit: string) =>
      unit === "" || units[unit] === undefined ? whole : String(Number(figure) * units[unit]),
    )
    const found = ["string", "number"].includes(typeof value) ? Range.parse(scaled) : undefined
    const names = Object.keys(units).join(", ")
    return found ?? refused(place, `must be a range such as ${example}; units are ${names}`)
  }

const bytes = scaledRange({ B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }, '"10GiB:"')
const age = scaledRange({ s: 1, m: 60, h: 3_600, d: 86_400 }, '"26h" or "5m:"')

/** Thresholds in bytes, and in seconds. */
export const byteThresholds = record({ warning: bytes, critical: bytes })
export const ageFields = { warning: age, critical: age }

/** How long a network probe waits for an answer. */
export const wait = duration({ max: "1d" })
export const WAIT_MILLIS = 10_000

export const host = text({
  max: 253,
  form: /^[A-Za-z0-9._:-]+$/,
  expected: "a host name or an address",
})

/** A regular expression of JavaScript, with the flags `u` and `m`. */
export const pattern: Reader<string> = (value, place) => {
  if (typeof value !== "string" || value === "")
    return refused(place, "must be a regular expression in quotes")
  try {
    patternOf(value)
    return value
  } catch (error) {
    return refused(
      place,
      `must be a regular expression (${error instanceof Error ? error.message : String(error)})`,
    )
  }
}

export const patternOf = (written: string): RegExp => new RegExp(written, "mu")

/** One value or a list of them. */
export const oneOrMore =
  <A>(reader: Reader<A>, max: number): Reader<ReadonlyArray<A>> =>
  (value, place) => {
    const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    if (all.length < 1 || all.length > max) return refused(place, `must have 1 to ${max} entries`)
    const read = all.map((one, index) =>
      reader(one, Array.isArray(value) ? { ...place, path: [...place.path, index] } : place),
    )
    const there = read.filter((one) => one !== undefined)
    return there.length === read.length ? there : undefined
  }
