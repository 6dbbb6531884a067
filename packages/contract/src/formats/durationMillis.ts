/** A duration as programs give it: `"90s"`, `"5m"`, `"8h"`, `"7d"`, or a number of milliseconds. */
export type DurationOption = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`

const MINUTE = 60_000
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: MINUTE,
  h: 60 * MINUTE,
  d: 24 * 60 * MINUTE,
}

const TEXT = /^(\d{1,9})(ms|s|m|h|d)$/

/**
 * Reads a duration in milliseconds: a whole number and a unit, such as `1500ms`, `90s`, `5m`, `12h` or
 * `93d`. Settings, policies, options and the agent have this grammar (docs/rules.md#values).
 */
const durationMillis = (text: unknown): number | undefined => {
  const [, count, unit = ""] = typeof text === "string" ? (TEXT.exec(text) ?? []) : []
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0)
}

/** Writes milliseconds in the largest unit that divides them. */
export const durationText = (millis: number): string => {
  for (const unit of ["d", "h", "m", "s"]) {
    const size = UNITS[unit] ?? 1
    if (millis % size === 0 && (millis > 0 || unit === "s")) return `${millis / size}${unit}`
  }
  return `${millis}ms`
}

/** A length in its `most` largest units, cut to whole seconds, without zeros: 7,500 s are 2 h and 5 m. */
export const largestUnits = (
  seconds: number,
  most: number,
): ReadonlyArray<{ readonly count: number; readonly unit: string }> => {
  let left = Math.floor(seconds) * 1_000
  const parts = ["d", "h", "m", "s"].map((unit) => {
    const size = UNITS[unit] ?? 1
    const count = Math.floor(left / size)
    left -= count * size
    return { count, unit }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  return first === -1 ? [] : parts.slice(first, first + most).filter(({ count }) => count > 0)
}

/** The longest duration: times that it reaches from now stay within what every storage and format holds. */
const LONGEST_MILLIS = 36_500 * 24 * 60 * MINUTE

/** Bounds of a duration in milliseconds, included. */
interface DurationBounds {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** Completes "must be …". */
export const durationExpected = ({ min = 1, max = LONGEST_MILLIS }: DurationBounds = {}): string =>
  `a duration such as 90s, 8h or 7d, from ${durationText(min)} to ${durationText(max)}`

export const boundedMillis = (
  text: unknown,
  { min = 1, max = LONGEST_MILLIS }: DurationBounds = {},
): number | undefined => {
  const millis = durationMillis(text)
  return millis !== undefined && millis >= min && millis <= max ? millis : undefined
}

/** Completes "must be …" of a {@link DurationOption}. */
export const givenExpected = (bounds?: DurationBounds): string =>
  `${durationExpected(bounds)}, or a number of milliseconds`

/** Reads a {@link DurationOption} within bounds. */
export const givenMillis = (given: unknown, bounds?: DurationBounds): number | undefined =>
  boundedMillis(typeof given === "number" && Number.isSafeInteger(given) ? `${given}ms` : given, bounds)
