import { describe, expect, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"
import { occurrenceInForce, compileQuiet } from "../../../src/heart/policy/occurrences.ts"

const QUARTER = 15 * 60_000
const HOUR = 4 * QUARTER
const DAY = 24 * HOUR
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

/** A day on which the clock of a zone changes, or does not. */
const DAYS = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["Australia/Lord_Howe", "2026-10-04"],
  ["America/Santiago", "2026-09-06"],
  ["UTC", "2026-01-01"],
] as const

const clocks = new Map(
  DAYS.map(([tz]) => [
    tz,
    new Intl.DateTimeFormat("sv-SE", { timeZone: tz, dateStyle: "short", timeStyle: "short" }),
  ]),
)

/** The first moment at which the clock of a zone shows a time, or a later one. */
const reached = (tz: (typeof DAYS)[number][0], wall: number): number => {
  const shown = (at: number) => Date.parse(`${clocks.get(tz)?.format(at).replace(" ", "T")}Z`)
  let at = wall - 15 * HOUR
  while (shown(at) < wall) at += QUARTER
  return at
}

const quarter = fc.integer({ min: 0, max: 95 })
const timeOf = (quarters: number) =>
  `${String(Math.floor(quarters / 4)).padStart(2, "0")}:${String((quarters % 4) * 15).padStart(2, "0")}`

describe("quiet hours", () => {
  it("are those of a clock on the wall, in every time zone and through its changes", () => {
    const given = fc.record({
      day: fc.constantFrom(...DAYS),
      from: quarter,
      to: quarter,
      weekdays: fc.subarray(WEEKDAYS, { minLength: 1 }),
      moment: fc.integer({ min: -96, max: 192 }),
    })
    fc.assert(
      fc.property(given, ({ day: [tz, date], from, moment, to, weekdays }) => {
        fc.pre(from !== to)
        const midnight = Date.parse(date)
        const now = midnight + moment * QUARTER
        const ends = [-3, -2, -1, 0, 1, 2].flatMap((n) => {
          const today = midnight + n * DAY
          if (!weekdays.includes(WEEKDAYS[new Date(today).getUTCDay()] ?? "")) return []
          const start = reached(tz, today + from * QUARTER)
          const end = reached(tz, today + (to < from ? DAY : 0) + to * QUARTER)
          return start <= now && now < end ? [end] : []
        })
        const quiet = compileQuiet({
          hours: `${timeOf(from)}-${timeOf(to)}`,
          tz,
          below: "critical",
          days: weekdays.join(),
        })
        const found = occurrenceInForce(quiet, Instant.fromMillis(now))?.ends_at
        expect(found && Number(found / 1_000n)).toEqual(ends[0])
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
