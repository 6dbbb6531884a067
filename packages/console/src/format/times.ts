import { largestUnits } from "@tocsin/contract/formats/durationMillis"

/** A span as people read it at a glance: its two largest units, `2h 5m`. */
export const spanText = (millis: number): string =>
  largestUnits(Math.abs(millis) / 1_000, 2)
    .map(({ count, unit }) => `${count}${unit}`)
    .join(" ") || "0s"

/** How long ago, or in how long: `5m ago`, `in 2h`. */
export const relativeText = (at: string, now: number): string => {
  const millis = Date.parse(at) - now
  if (!Number.isFinite(millis)) return at
  if (Math.abs(millis) < 1_000) return "now"
  // Seconds beside minutes would only make the page restless.
  const span = Math.abs(millis) < 60_000 ? millis : Math.floor(Math.abs(millis) / 60_000) * 60_000
  return millis < 0 ? `${spanText(span)} ago` : `in ${spanText(span)}`
}

/** As the reader's clock writes hours: `03:00` on one of 24 hours, also beside a date. */
const reader = new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).resolvedOptions()
/** The zone of the computer, in which the browser reads a time that is typed. */
export const ZONE = reader.timeZone
export const ZONES = Array.from(
  new Set(["UTC", ZONE, ...Intl.supportedValuesOf("timeZone")]),
  (zone) => [zone] as const,
)
const hour = reader.hour12 === true ? "numeric" : "2-digit"
const BRIEF = { month: "short", day: "numeric", hour, minute: "2-digit" } as const

// Making a format takes longer than drawing a row.
const formatsIn = (timeZone: string | undefined) => ({
  exact: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", timeZone }),
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: "short", timeZone }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeZone }),
  date: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone }),
  weekday: new Intl.DateTimeFormat(undefined, { weekday: "short", month: "short", day: "numeric", timeZone }),
  year: new Intl.DateTimeFormat(undefined, { year: "numeric", timeZone }),
  brief: new Intl.DateTimeFormat(undefined, { ...BRIEF, timeZone }),
  dated: new Intl.DateTimeFormat(undefined, { ...BRIEF, year: "numeric", timeZone }),
})
let formats = formatsIn(undefined)

/** Shows times in a zone from now on; that of the computer if it is empty. */
export const inZone = (zone: string): void => {
  formats = formatsIn(zone === "" ? undefined : zone)
}

/** How to write a moment, to the minute: of today the time alone, and of another year with that. */
const formatOf = (millis: number, now: number) => {
  const { brief, clock, dated, day, year } = formats
  if (year.format(millis) !== year.format(now)) return dated
  return day.format(millis) === day.format(now) ? clock : brief
}

/** A moment in the reader's zone. */
export const momentText = (millis: number, now: number): string => formatOf(millis, now).format(millis)

/** From one moment to another: `Nov 29, 2:00 – 6:00 AM`. */
export const rangeText = (from: string, to: string, now: number): string =>
  formatOf(Date.parse(from), now).formatRange(Date.parse(from), Date.parse(to))

export const clockText = (millis: number): string => formats.clock.format(millis)

export const dayText = (millis: number): string => formats.date.format(millis)

export const weekdayText = (millis: number): string => formats.weekday.format(millis)

/** The exact time, in the reader's zone and, where that is another one, in UTC. */
export const exactText = (at: string): string => {
  const millis = Date.parse(at)
  if (!Number.isFinite(millis)) return at
  const { exact } = formats
  if (exact.resolvedOptions().timeZone === "UTC") return exact.format(millis)
  return `${exact.format(millis)} · ${at.slice(0, 19).replace("T", " ")} UTC`
}

/** A sentence of the service with its times in the reader's zone. */
export const localTimes = (sentence: string, now: number): string =>
  sentence.replaceAll(/(\d{4}-\d\d-\d\d)(?:T| )([\d:.]+)(?:Z| UTC)/g, (_, day, clock) =>
    momentText(Date.parse(`${day}T${clock}Z`), now),
  )

const grouped = new Intl.NumberFormat("en")

export const numberText = (value: number): string => grouped.format(value)

/** A count with its noun: `1 incident`, `2 agents`. */
export const countText = (count: number, noun: string): string =>
  `${numberText(count)} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`

/** The start of a hash: enough to distinguish policies at a glance. */
export const hashStart = (hash: string): string => hash.slice(0, 12)
