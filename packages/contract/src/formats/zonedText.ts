import * as Instant from "./Instant.ts"
import { timeZoneOf } from "./zoneClocks.ts"

const UTC = "UTC"

/** In the order in which they are asked for a name: Americans abbreviate no clock of Europe. */
const LOCALES = ["en-US", "en-GB"]

const formats = new Map<string, ReadonlyArray<Intl.DateTimeFormat>>()

const formatsOf = (timeZone: string): ReadonlyArray<Intl.DateTimeFormat> => {
  const made =
    formats.get(timeZone) ??
    LOCALES.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" }))
  formats.set(timeZone, made)
  return made
}

/** An offset, where the locale has no abbreviation. */
const OFFSET = /^GMT(?=[^A-Z])/u

/** The name of the clocks of a zone at a moment: `CET`, or else their offset, such as `UTC+5:30`. */
const clockName = (timeZone: string, millis: number): string => {
  const names = formatsOf(timeZone).map(
    (format) => format.formatToParts(millis).find(({ type }) => type === "timeZoneName")?.value ?? UTC,
  )
  const [offset = UTC] = names
  return names.find((name) => !OFFSET.test(name)) ?? offset.replace(OFFSET, UTC)
}

/** The last character of a time that is as precise as this, in RFC 3339. */
const END = { second: 19, minute: 16 } as const

/** An instant for a person by the clock of a zone, UTC unless known: `2026-01-31 09:30:00 CET`. */
export const zonedText = (
  instant: Instant.Instant,
  tz: string = UTC,
  precision: keyof typeof END = "second",
): string => {
  const millis = Instant.toMillis(instant)
  const zone = timeZoneOf(tz)
  const shown = Instant.fromMicros(instant + BigInt(zone?.offsetAt(millis) ?? 0) * 1_000n)
  const time = Instant.format(shown).slice(0, END[precision]).replace("T", " ")
  return `${time} ${zone === undefined ? UTC : clockName(zone.name, millis)}`
}
