import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/Instant"
import ICAL from "ical.js"
import { calendarText } from "../../src/policy/calendarText.ts"

const at = (text: string) => Instant.parse(text) ?? assert.fail(text)

it("a calendar is read as it was written, whatever the length of its names", () => {
  const receivers = ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(64))
  const [from, to] = [at("2026-12-07T08:00:00Z"), at("2026-12-14T08:00:00.5Z")]
  const text = calendarText(
    [
      { from, to, receivers, by: "turn" },
      { from: to, to: at("2026-12-15T08:00:00Z"), receivers: ["bob"], by: "override" },
    ],
    "0f",
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
