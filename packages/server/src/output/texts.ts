import * as Instant from "@tocsin/contract/formats/Instant"
import { largestUnits } from "@tocsin/contract/formats/durationMillis"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import type { Labels } from "@tocsin/contract/labels/Labels"

/** A time in its largest unit, or its `most` largest: `3m`, `2d 4h`. */
export const spanText = (seconds: number, most = 1): string =>
  largestUnits(seconds, most)
    .map(({ count, unit }) => `${count}${unit}`)
    .join(" ") || "0s"

/** The age of an instant in its largest unit: `3m ago`; of one in the future in two: `in 4m 59s`; empty without one. */
export const ageText = (instant: Instant.Instant | null | undefined, now: Instant.Instant): string => {
  if (instant === null || instant === undefined) return ""
  const seconds = Math.trunc(Instant.secondsBetween(instant, now))
  return seconds < 0 ? `in ${spanText(-seconds, 2)}` : `${spanText(seconds)} ago`
}

/** A text whose times have no microseconds. */
export const withoutMicros = (text: string): string => text.replaceAll(/(:\d\d\.\d{3})\d{3}Z/g, "$1Z")

/** The time zone of this machine, in which commands print times (TZ, or `--utc`). */
export const machineZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

const UTC = /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/u

/** An instant by the clock of a zone; in UTC, to the millisecond as the API has it. Empty without one. */
export const timeText = (instant: Instant.Instant | null | undefined, tz: string = machineZone()): string => {
  if (instant === null || instant === undefined) return ""
  return UTC.test(tz) ? withoutMicros(Instant.format(instant)) : zonedText(instant, tz)
}

/** Labels for people: `env=prod team=db`. */
export const labelsText = (labels: Labels = {}): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ")

/** A count for people: `2,000`. */
export const countText = (count: number): string => count.toLocaleString("en-US")

/** A count of things: `1 agent`, `2,000 agents`. */
export const plural = (count: number, of: string): string =>
  `${countText(count)} ${of}${count === 1 ? "" : "s"}`

/** The parts of a text for people that are not empty, with a line between them. */
export const sectionsText = (sections: ReadonlyArray<string>): string =>
  sections.filter((section) => section !== "").join("\n")

/** DEL, the C1 controls, separators and bidirectional overrides: JSON admits them unescaped, but terminals act on them. */
const TERMINAL_CONTROLS = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

const INDENT = 2

/**
 * A value as one line of JSON, or indented for a person. Fields keep their names, which are those
 * of the API; a bigint is an instant.
 */
export const jsonText = (value: unknown, isForPerson = false): string =>
  JSON.stringify(
    value,
    (_, field: unknown) => (typeof field === "bigint" ? Instant.format(Instant.fromMicros(field)) : field),
    isForPerson ? INDENT : undefined,
  ).replace(TERMINAL_CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Removes user and password from addresses, which people put on command lines. */
export const withoutSecrets = (text: string): string => text.replace(/:\/\/[^\s/@"]*@/g, "://…@")

/** The line of a command that gave something a title, or took that of an operator back. */
export const titledText = (name: string, title: string | null): string =>
  title === null ? `${name}: has no title of an operator\n` : `${name}: is called ${title}\n`
