import * as Instant from "@tocsin/contract/Instant"
import { type Turn, wholeTurns } from "./onCall.ts"

/** A moment of a calendar: in UTC, to the second. */
const moment = (at: Instant.Instant): string => `${Instant.format(at).slice(0, 19).replaceAll(/[-:]/g, "")}Z`

/** RFC 5545 limits a line to 75 octets; names of receivers are ASCII. */
const folded = (line: string): string => line.match(/^.{1,75}|.{1,74}/g)?.join("\r\n ") ?? ""

/**
 * Turns as an iCalendar (RFC 5545): receivers' names and nothing else. An event keeps its UID as long as the turn
 * begins when it does. That of a turn which begins at the edge of the calendar, each day another moment, is named by
 * its end, if that is before the other edge. `id` distinguishes those of other rotas.
 */
export const calendarText = (
  turns: ReadonlyArray<Turn>,
  id: string,
  edges: Pick<Turn, "from" | "to">,
): string =>
  [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Tocsin//On call//EN",
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
    ...wholeTurns(turns).flatMap(({ from, receivers, to }) => [
      "BEGIN:VEVENT",
      `UID:${from > edges.from ? moment(from) : to < edges.to ? `until-${moment(to)}` : "always"}-${id}@tocsin`,
      `DTSTAMP:${moment(from)}`,
      `DTSTART:${moment(from)}`,
      `DTEND:${moment(to)}`,
      `SUMMARY:${receivers.join(String.raw`\, `)}`,
      // Being on call leaves a person free to meet.
      "TRANSP:TRANSPARENT",
      "END:VEVENT",
    ]),
    "END:VCALENDAR",
    "",
  ]
    .map(folded)
    .join("\r\n")
