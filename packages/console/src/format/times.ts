import { largestUnits } from "@tocsin/contract/durationMillis"

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

// Making a format takes longer than drawing a row.
const formatsIn = (timeZone: string | undefined) => ({
  exact: new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", timeZone }),
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: "short", timeZone }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeZone }),
  date: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone }),
  brief: new Intl.DateTimeFormat(undefined, {
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZone,
  }),
})
let formats = formatsIn(undefined)

/** Shows times in a zone from now on; that of the computer if it is empty. */
export const inZone = (zone: string): void => {
  formats = formatsIn(zone === "" ? undefined : zone)
}

/** A moment of these days in the reader's zone, to the minute; of today, the time alone. */
export const momentText = (millis: number, now: number): string => {
  const { brief, clock, day } = formats
  return (day.format(millis) === day.format(now) ? clock : brief).format(millis)
}

export const dayText = (millis: number): string => formats.date.format(millis)

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
  sentence.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => momentText(Date.parse(at), now))

const grouped = new Intl.NumberFormat("en")

export const numberText = (value: number): string => grouped.format(value)

/** A count with its noun: `1 incident`, `2 agents`. */
export const countText = (count: number, noun: string): string =>
  `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`
