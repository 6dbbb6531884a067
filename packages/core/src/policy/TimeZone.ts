import { Result } from "effect"

/** A time zone of the IANA database. */
export interface TimeZone {
  /** How far its clocks are ahead of UTC at a moment, in milliseconds. */
  readonly offsetAt: (millis: number) => number
}

const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/u
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/u

/** Some 600 at most, of 26 KB each: all letter cases of a name are one. */
const zones = new Map<string, TimeZone>()

/** The time zone of a name in any letter case, if there is one. */
export const timeZoneOf = (name: string): TimeZone | undefined => {
  const timeZone = name.toLowerCase()
  const known = zones.get(timeZone)
  if (known !== undefined) return known
  if (!IANA_NAME.test(name)) return undefined
  // The fewest fields besides the offset: a declaration may ask for thousands of offsets.
  const fields = { timeZone, timeZoneName: "longOffset", weekday: "short" } as const
  const format = Result.try(() => new Intl.DateTimeFormat("en-US", fields))
  if (Result.isFailure(format)) return undefined
  const zone = { offsetAt: (millis: number) => offsetIn(format.success.format(millis)) }
  zones.set(timeZone, zone)
  return zone
}

/** The offset at the end of a text such as `Sun, GMT+05:30`; UTC is `GMT`. */
const offsetIn = (text: string): number => {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(text) ?? []
  const offset = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return sign === "-" ? -offset : offset
}
