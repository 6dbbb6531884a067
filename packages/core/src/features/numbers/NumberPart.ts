import type { NumberPart, PartKind, PartRef, SeriesRef, Spans } from "../../kernel/ports/NumberStorage.ts"
import { roundSpans } from "./packSpans.ts"
import { longer, mergeSpans } from "./Span.ts"

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
} as const satisfies Readonly<Record<PartKind, object>>

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

/** The parts of one series and time that a server wrote. */
export interface ServerPart {
  readonly server: string
  readonly spans: Spans
}

/** Where more servers have parts of one series and day, most of them are gone: they restarted, one after another. */
export const MOST_SERVERS = 4
/** The server of folded parts. No other has this ID. */
const FOLDED = "00000000-0000-0000-0000-000000000000"
/** Longer than a server changes what it measured in an hour that is over. */
export const FOLDED_AFTER = 3 * HOUR

/** The parts that are folded together of a day, so that each server's day has what its hours have. */
export const foldedWith = (start: number, before: number): ReadonlyArray<Pick<PartRef, "kind" | "start">> => [
  { kind: "day", start },
  ...startsIn("hour", start, Math.min(start + DAY, before - HOUR + 1)).map((hour) => ({
    kind: "hour" as const,
    start: hour,
  })),
]

/**
 * Parts of several servers, changed so that what was measured before a moment is in one part, of {@link FOLDED}; one
 * without a span goes. A server replaces its hour as a whole, and its day by one hour at a time.
 */
export const foldParts = (
  { kind, start }: Pick<PartRef, "kind" | "start">,
  parts: ReadonlyArray<ServerPart>,
  before: number,
): ReadonlyArray<ServerPart> => {
  const { length, span } = PART_KINDS[kind]
  const spansOver =
    kind === "day" ? Math.floor((before - start) / span) : before < start + length ? 0 : length
  const over = Math.max(0, spansOver)
  const changed = parts.filter(({ server, spans }) => server !== FOLDED && spans.slice(0, over).some(Boolean))
  if (changed.length === 0) return []
  const folded = [...parts.filter(({ server }) => server === FOLDED), ...changed]
  const spans = folded.map((one) => one.spans.slice(0, over)).reduce<Spans>(mergeSpans, [])
  const left = changed.map((one) => ({
    server: one.server,
    spans: one.spans.map((each, place) => (place < over ? undefined : each)),
  }))
  return [{ server: FOLDED, spans }, ...left]
}

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
