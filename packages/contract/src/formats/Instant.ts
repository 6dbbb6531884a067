import { type Brand, Clock, Duration, Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { civilFromDays, daysFromCivil, daysInMonth } from "./civilDate.ts"

/**
 * A moment in UTC as whole microseconds since 1970-01-01T00:00:00Z, in the years 0001 to 9999
 * (docs/rules.md#timestamps). A bigint, because that span does not fit a double at this precision.
 * Compare with `<` and `===`.
 */
export type Instant = bigint & Brand.Brand<"Instant">

const MICROS_PER_SECOND = 1_000_000n
const MICROS_PER_SECOND_AS_NUMBER = 1_000_000
const MICROS_PER_MILLI = 1_000n
const NANOS_PER_MICRO = 1_000n
const SECONDS_PER_DAY = 86_400

/** Brands a count of microseconds. Use only where the number is known to be one: storage rows, arithmetic. */
export const fromMicros = (micros: bigint): Instant =>
  // The one place where the brand is made: every other Instant is derived from here.
  micros as Instant

/** The instant of a whole number of milliseconds since 1970. */
export const fromMillis = (millis: number): Instant => fromMicros(BigInt(millis) * MICROS_PER_MILLI)

/** The milliseconds since 1970 of an instant, cut. */
export const toMillis = (instant: Instant): number => Number(instant / MICROS_PER_MILLI)

/** 9999-12-31T23:59:59Z: no later year has four digits, as RFC 3339 writes them. */
export const LATEST = fromMillis(253_402_300_799_000)

/** The instant of a whole number of nanoseconds since 1970, cut to the microsecond. */
export const fromNanos = (nanos: bigint): Instant => fromMicros(nanos / NANOS_PER_MICRO)

/** `instant` moved forward by `duration`; a negative move is `minus`. */
export const plus = (instant: Instant, duration: Duration.Duration): Instant =>
  fromMicros(instant + Duration.toNanosUnsafe(duration) / NANOS_PER_MICRO)

/** `instant` moved back by `duration`. */
export const minus = (instant: Instant, duration: Duration.Duration): Instant =>
  fromMicros(instant - Duration.toNanosUnsafe(duration) / NANOS_PER_MICRO)

export const max = (a: Instant, b: Instant): Instant => (a > b ? a : b)

export const min = (a: Instant, b: Instant): Instant => (a < b ? a : b)

type Moments = ReadonlyArray<Instant | undefined>

const best = (instants: Moments, choose: (a: Instant, b: Instant) => Instant): Instant | undefined =>
  instants.reduce((a, b) => (a === undefined || b === undefined ? (a ?? b) : choose(a, b)), undefined)

/** The earliest of the instants that are there; `undefined` if there are none. */
export const earliest = (instants: Moments): Instant | undefined => best(instants, min)

/** The latest of the instants that are there; `undefined` if there are none. */
export const latest = (instants: Moments): Instant | undefined => best(instants, max)

/**
 * Whether a moment is less than a duration ago. One in the future is not: a clock that dated it has been
 * set back since.
 */
export const isRecent = (at: Instant, duration: Duration.Duration, present: Instant): boolean =>
  at <= present && present < plus(at, duration)

/** The second that a moment is in, without its fraction. */
export const wholeSecond = (at: Instant): Instant => fromMicros(at - (at % MICROS_PER_SECOND))

/** How long after `from` another moment is, in seconds; negative if it is before. */
export const secondsBetween = (from: Instant, to: Instant): number =>
  Number(to - from) / MICROS_PER_SECOND_AS_NUMBER

/** Now, by Effect's Clock, cut to the microsecond. */
export const now: Effect.Effect<Instant> = Effect.map(Clock.currentTimeNanos, fromNanos)

// Parsed by hand, because a batch holds hundreds of timestamps: a regular expression alone takes
// longer.
const ZERO = 48
const isDigit = (unit: number): boolean => unit >= ZERO && unit <= ZERO + 9

/** The two digits at `index`, or a number that is less than any. */
const twoDigits = (text: string, index: number): number => {
  const tens = text.charCodeAt(index)
  const ones = text.charCodeAt(index + 1)
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : -10_000
}

const hasSeparators = (text: string): boolean =>
  text.charAt(4) === "-" &&
  text.charAt(7) === "-" &&
  (text.charAt(10) === "T" || text.charAt(10) === "t") &&
  text.charAt(13) === ":" &&
  text.charAt(16) === ":"

const FRACTION_START = 20
const FRACTION_DIGITS = 6

/** Where the digits that begin at `index` end. */
const endOfDigits = (text: string, index: number): number => {
  let end = index
  while (isDigit(text.charCodeAt(end))) end += 1
  return end
}

const microsOfFraction = (text: string, end: number): number => {
  let micros = 0
  for (let index = FRACTION_START; index < FRACTION_START + FRACTION_DIGITS; index++) {
    micros = micros * 10 + (index < end ? text.charCodeAt(index) - ZERO : 0)
  }
  return micros
}

const isUtc = (text: string, index: number): boolean => {
  const unit = text.charAt(index)
  if (unit === "Z" || unit === "z") return text.length === index + 1
  return unit === "+" && text.length === index + 6 && text.endsWith("+00:00")
}

const secondsOf = (text: string): number | undefined => {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  const dateExists = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  const timeExists = hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59
  if (!dateExists || !timeExists) return undefined
  return daysFromCivil(year, month, day) * SECONDS_PER_DAY + hour * 3_600 + minute * 60 + second
}

/**
 * Reads an RFC 3339 timestamp in UTC (`Z` or `+00:00`); digits beyond the microsecond are cut,
 * never rounded. `undefined` for anything else: other offsets, `-00:00`, leap seconds, dates that
 * do not exist, year 0000 (docs/rules.md#timestamps).
 */
export const parse = (text: string): Instant | undefined => {
  const hasFraction = text.charAt(FRACTION_START - 1) === "."
  const end = hasFraction ? endOfDigits(text, FRACTION_START) : FRACTION_START - 1
  if (end === FRACTION_START || !hasSeparators(text) || !isUtc(text, end)) return undefined
  const seconds = secondsOf(text)
  if (seconds === undefined) return undefined
  const micros = hasFraction ? microsOfFraction(text, end) : 0
  const whole = seconds * MICROS_PER_SECOND_AS_NUMBER + micros
  // One bigint instead of four, for the years that a double can tell to the microsecond.
  return fromMicros(
    Number.isSafeInteger(whole) ? BigInt(whole) : BigInt(seconds) * MICROS_PER_SECOND + BigInt(micros),
  )
}

const pad = (value: number, width: number): string => value.toString().padStart(width, "0")

/** RFC 3339 with `Z`, three fraction digits, or six when the last three are not zero (docs/rules.md#timestamps). */
export const format = (instant: Instant): string => {
  const micros = ((instant % MICROS_PER_SECOND) + MICROS_PER_SECOND) % MICROS_PER_SECOND
  const seconds = Number((instant - micros) / MICROS_PER_SECOND)
  const days = Math.floor(seconds / SECONDS_PER_DAY)
  const secondOfDay = seconds - days * SECONDS_PER_DAY
  const [year, month, day] = civilFromDays(days)
  const fraction = pad(Number(micros), 6)
  const time = [Math.floor(secondOfDay / 3_600), Math.floor((secondOfDay % 3_600) / 60), secondOfDay % 60]
  return (
    `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${time.map((part) => pad(part, 2)).join(":")}.` +
    `${fraction.endsWith("000") ? fraction.slice(0, 3) : fraction}Z`
  )
}

/** An instant for a person, to the second: `2026-01-31 08:30:00 UTC`. */
export const momentText = (instant: Instant): string =>
  `${format(instant).slice(0, 19).replace("T", " ")} UTC`

const EXPECTED = "an RFC 3339 date-time in UTC, such as 2026-01-31T08:30:00Z"

/** An {@link Instant} on the wire: an RFC 3339 string in UTC (docs/rules.md#values). */
export const InstantFromString = Schema.String.annotate({ expected: EXPECTED, format: "date-time" }).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect<bigint, string>({
      decode: (text, options) => {
        const instant = parse(text)
        return instant === undefined
          ? Effect.fail(new SchemaIssue.InvalidValue({ expected: EXPECTED }, text, options))
          : Effect.succeed(instant)
      },
      encode: (micros) => Effect.succeed(format(fromMicros(micros))),
    }),
  ),
  Schema.brand("Instant"),
)
