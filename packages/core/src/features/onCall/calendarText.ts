import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type Turn, wholeTurns } from "../../heart/policy/onCall.ts"

/** A moment of a calendar: in UTC, to the second. */
const moment = (at: Instant.Instant): string => `${Instant.format(at).slice(0, 19).replaceAll(/[-:]/g, "")}Z`

/** RFC 5545 limits a line to 75 octets; names of receivers are ASCII. */
const folded = (line: string): string => line.match(/^.{1,75}|.{1,74}/g)?.join("\r\n ") ?? ""

const MICROS_PER_SECOND = 1_000_000n

/**
 * When events changed, by the moments of all changes to them: the last one, to the second, and a second later for each
 * that was no second after the one before, so that no two changes have one time.
 */
export const lastChange = (changes: ReadonlyArray<Instant.Instant>): Instant.Instant =>
  changes
    .toSorted((a, b) => Number(a - b))
    .map(Instant.wholeSecond)
    .reduce(
      (last, at) => Instant.max(at, Instant.fromMicros(last + MICROS_PER_SECOND)),
      Instant.fromMicros(-MICROS_PER_SECOND),
    )

/** Revisions count seconds from 2020 on: numbers of a calendar have 31 bits. */
const FIRST_DAY = Instant.fromMillis(1_577_836_800_000)

interface CalendarShown {
  readonly rota: NotifierName
  /** Distinguishes its events from those of other rotas. */
  readonly id: string
  /** Between which moments the turns were computed. */
  readonly edges: Pick<Turn, "from" | "to">
  /** When turns changed last. */
  readonly changed: Instant.Instant
  /** When turns at an edge did, which move with it. */
  readonly moved: Instant.Instant
}

/** Events whose text is made in one turn of the event loop: some milliseconds. */
const EVENTS_TOGETHER = 200

const textOf = (lines: ReadonlyArray<string>): string => lines.map((line) => `${folded(line)}\r\n`).join("")

/**
 * Turns as an iCalendar (RFC 5545): the names of the rota and of receivers, and nothing else. An event keeps its UID as long as the turn
 * begins when it does. That of a turn which begins at the edge of the calendar, each day another moment, is named by
 * its end, if that is before the other edge. Programs take over what another revision says, and ignore the rest.
 */
export function* calendarPieces(turns: ReadonlyArray<Turn>, shown: CalendarShown): Generator<string> {
  yield textOf([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Tocsin//On call//EN",
    `NAME:On call: ${shown.rota}`,
    `X-WR-CALNAME:On call: ${shown.rota}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
  ])
  const whole = wholeTurns(turns)
  for (let first = 0; first < whole.length; first += EVENTS_TOGETHER)
    yield textOf(whole.slice(first, first + EVENTS_TOGETHER).flatMap((turn) => eventOf(turn, shown)))
  yield textOf(["END:VCALENDAR"])
}

const eventOf = ({ from, receivers, to }: Turn, { changed, edges, id, moved }: CalendarShown) => {
  const at = from > edges.from && to < edges.to ? changed : moved
  return [
    "BEGIN:VEVENT",
    `UID:${from > edges.from ? moment(from) : to < edges.to ? `until-${moment(to)}` : "always"}-${id}@tocsin`,
    `DTSTAMP:${moment(at)}`,
    `LAST-MODIFIED:${moment(at)}`,
    `SEQUENCE:${Math.max(0, Instant.secondsBetween(FIRST_DAY, Instant.wholeSecond(at)))}`,
    `DTSTART:${moment(from)}`,
    `DTEND:${moment(to)}`,
    `SUMMARY:${receivers.join(String.raw`\, `)}`,
    // Being on call leaves a person free to meet.
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ]
}
