import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import ICAL from "ical.js"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { calendarPieces, lastChange } from "../../../src/features/onCall/readCalendar.ts"

const at = (text: string) => Instant.parse(text) ?? assert.fail(text)

const calendarText = (...[turns, shown]: Parameters<typeof calendarPieces>) =>
  Array.from(calendarPieces(turns, shown)).join("")

const SHOWN = {
  rota: NotifierName.make("primary"),
  id: "0f",
  edges: { from: at("2026-08-01T00:00:00Z"), to: at("2027-05-01T00:00:00Z") },
  changed: at("2026-11-03T07:12:05.7Z"),
  moved: at("2026-12-06T00:00:00Z"),
}

it("a calendar is read as it was written, whatever the length of its names", () => {
  const receivers = ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(64))
  const [from, to] = [at("2026-12-07T08:00:00Z"), at("2026-12-14T08:00:00.5Z")]
  const text = calendarText(
    [
      { from, to, receivers, by: "turn" },
      { from: to, to: at("2026-12-15T08:00:00Z"), receivers: ["bob"], by: "override" },
    ],
    SHOWN,
  )
  for (const line of text.split("\r\n")) assert.isAtMost(line.length, 75)
  assert.isTrue(text.endsWith("END:VCALENDAR\r\n"))
  const events = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent")
  assert.deepStrictEqual(
    events
      .map((event) => new ICAL.Event(event))
      .map(({ endDate, startDate, summary, uid }) => [
        startDate.toJSDate().toISOString(),
        endDate.toJSDate().toISOString(),
        summary,
        uid,
      ]),
    [
      [
        "2026-12-07T08:00:00.000Z",
        "2026-12-14T08:00:00.000Z",
        receivers.join(", "),
        "20261207T080000Z-0f@tocsin",
      ],
      ["2026-12-14T08:00:00.000Z", "2026-12-15T08:00:00.000Z", "bob", "20261214T080000Z-0f@tocsin"],
    ],
  )
})

it("a calendar names its rota and when its events changed, at its edges each day", () => {
  const turns = [
    { from: at("2026-12-07T08:00:00Z"), to: at("2026-12-14T08:00:00Z"), receivers: ["ann"], by: "turn" },
    { from: at("2026-12-14T08:00:00Z"), to: SHOWN.edges.to, receivers: ["bob"], by: "turn" },
  ] as const
  const lines = calendarText(turns, SHOWN).split("\r\n")
  assert.deepStrictEqual(
    lines.filter((line) => /^(?:NAME|X-WR-CALNAME|DTSTAMP|LAST-MODIFIED|SEQUENCE):/.test(line)),
    [
      "NAME:On call: primary",
      "X-WR-CALNAME:On call: primary",
      "DTSTAMP:20261103T071205Z",
      "LAST-MODIFIED:20261103T071205Z",
      `SEQUENCE:${(Date.UTC(2026, 10, 3, 7, 12, 5) - Date.UTC(2020, 0, 1)) / 1_000}`,
      "DTSTAMP:20261206T000000Z",
      "LAST-MODIFIED:20261206T000000Z",
      `SEQUENCE:${(Date.UTC(2026, 11, 6) - Date.UTC(2020, 0, 1)) / 1_000}`,
    ],
  )
})

it("changes within a second count as seconds apart", () => {
  const last = (...texts: ReadonlyArray<string>) =>
    Instant.format(lastChange(texts.map((text) => at(`2026-11-03T07:12:${text}Z`)))).slice(17, 19)
  assert.deepStrictEqual(
    [last("05"), last("05.2", "05.7"), last("05.7", "05.2", "05.2", "06"), last("05", "05", "09")],
    ["05", "06", "08", "09"],
  )
})

it("a turn within a second is none, and one without a beginning keeps its name", () => {
  const uids = (...moments: ReadonlyArray<readonly [string, string, string]>) => {
    const turns = moments.map(([from, to, receiver]) => {
      return { from: at(from), to: at(to), receivers: [receiver], by: "turn" } as const
    })
    const calendar = new ICAL.Component(ICAL.parse(calendarText(turns, SHOWN)))
    return calendar.getAllSubcomponents("vevent").map((event) => new ICAL.Event(event).uid)
  }
  const [begin, end] = ["2026-08-01T00:00:00Z", "2027-05-01T00:00:00Z"]
  assert.deepStrictEqual(uids([begin, end, "ann"]), ["always-0f@tocsin"])
  assert.deepStrictEqual(
    uids(
      [begin, "2026-12-07T08:00:00.2Z", "ann"],
      ["2026-12-07T08:00:00.2Z", "2026-12-07T08:00:00.4Z", "bob"],
      ["2026-12-07T08:00:00.4Z", "2026-12-08T08:00:00Z", "ann"],
      ["2026-12-08T08:00:00Z", end, "bob"],
    ),
    ["until-20261208T080000Z-0f@tocsin", "20261208T080000Z-0f@tocsin"],
  )
})
