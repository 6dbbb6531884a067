import type { CheckRef } from "../model/CheckRecord.ts"
import { roundSpans } from "./packSpans.ts"
import { longer, mergeSpans, type Spans } from "./Span.ts"

/** A series of numbers: what one check measured under one name, in one unit. */
export interface SeriesRef extends CheckRef {
  readonly name: string
  readonly unit: string
}

export interface KnownSeries extends SeriesRef {
  /** The start of its newest part. */
  readonly newest: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * The rows that a server has of a series (docs/rules.md#numbers), with their length and that of their spans in
 * milliseconds. A storage derives the spans of a `day` from the hours as they are written, so a `late` row has what
 * was measured so long ago that hours no longer take it.
 */
export const PART_KINDS = {
  hour: { length: HOUR, span: 5 * MINUTE },
  day: { length: DAY, span: HOUR },
  late: { length: DAY, span: HOUR },
} as const
export type PartKind = keyof typeof PART_KINDS

/** The number of spans in a part. */
export const placesOf = (kind: PartKind): number => PART_KINDS[kind].length / PART_KINDS[kind].span

/** For how long hours take values, and are kept. */
export const HOURS_KEPT = 2 * DAY

/** The start of the part that has a moment. */
export const startOf = (kind: PartKind, at: number): number => {
  const { length } = PART_KINDS[kind]
  // Each result asks: the remainder of so large a number takes longer.
  return Math.floor(at / length) * length
}

/** The starts of the parts that start from `from` on and before `to`. */
export const startsIn = (kind: PartKind, from: number, to: number): ReadonlyArray<number> => {
  const { length } = PART_KINDS[kind]
  const first = Math.ceil(from / length) * length
  return Array.from({ length: Math.max(0, Math.ceil((to - first) / length)) }, (_, n) => first + n * length)
}

export interface PartRef extends SeriesRef {
  readonly kind: PartKind
  /** Milliseconds since 1970. */
  readonly start: number
}

export interface NumberPart extends PartRef {
  readonly spans: Spans
}

/** A part to write. */
export interface WrittenPart extends NumberPart {
  /** When its server took the first value of it, in milliseconds since 1970. */
  readonly since: number
}

/**
 * The name of a row among the series of a check that says until when the check was deleted: servers leave out what they
 * measured by then. Its `newest` is when the last result of the deleted check arrived. No other name has a control.
 */
export const DELETION = "\n"
/** Longer than a server has a part in memory, so that all of them have seen a deletion by then. */
export const DELETIONS_KEPT = DAY

/** The kinds in the order by which storages number them. */
export const partKinds = Object.keys(PART_KINDS) as ReadonlyArray<PartKind>
export const kindNumber = ({ kind }: Pick<PartRef, "kind">): number => partKinds.indexOf(kind)

/** Stands for a series among those of its check: no character of a name or a unit is a control. */
export const nameKey = ({ name, unit }: Pick<SeriesRef, "name" | "unit">): string => `${name}\n${unit}`
export const namedBy = (key: string): Pick<SeriesRef, "name" | "unit"> => {
  const [name = "", unit = ""] = key.split("\n")
  return { name, unit }
}

/** Stands for a series. No ID contains a slash. */
export const seriesKey = ({ check_id, registration_id, ...named }: Omit<SeriesRef, "agent_id">): string =>
  `${registration_id}/${check_id}/${nameKey(named)}`

/** Stands for a part of a series. */
export const partKey = (part: PartRef): string => `${part.kind}/${part.start}/${seriesKey(part)}`

/** The part of a server's day that an hour is in. */
export const dayOf = <Part extends PartRef>({ start, ...part }: Part) => ({
  ...part,
  kind: "day" as const,
  start: startOf("day", start),
})

/** The spans of a server's day, as stored before, with those of one of its hours, rounded to seven digits. */
export const dayWith = (stored: Spans, { spans, start }: Pick<NumberPart, "spans" | "start">): Spans => {
  const place = (start - startOf("day", start)) / PART_KINDS.hour.length
  const hour = roundSpans(longer([...spans, ...NONE].slice(0, placesOf("hour")), placesOf("hour")))
  const others = stored.map((span, index) => (index === place ? undefined : span))
  return mergeSpans(others, [...Array.from({ length: place }, () => undefined), ...hour])
}

const NONE: Spans = Array.from({ length: placesOf("hour") }, () => undefined)
