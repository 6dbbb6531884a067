import { describe, expect, it } from "@effect/vitest"
import { Cron, Result } from "effect"
import * as fc from "fast-check"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  latestUntil,
  nextAfter,
  parseSchedule,
  scheduleProblems,
} from "../../../src/heart/policy/Schedule.ts"

const at = (text: string): Instant.Instant => Instant.fromMillis(Date.parse(text))
const iso = (instant: Instant.Instant): string => new Date(Number(instant / 1_000n)).toISOString()
const schedule = (cron: string, tz: string) => Result.getOrThrow(parseSchedule({ cron, tz }))

const timesFrom = (cron: string, tz: string, from: string, count: number): ReadonlyArray<string> => {
  const times: Array<string> = []
  let time = at(from)
  while (times.length < count) {
    time = nextAfter(schedule(cron, tz), time)
    times.push(iso(time))
  }
  return times
}

describe("a schedule in its time zone", () => {
  it.each([
    [
      "Europe/Berlin, forward: 02:30 is skipped",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T00:00Z",
      ["2026-03-28T01:30:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"],
    ],
    [
      "Europe/Berlin, back: 02:30 comes twice",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00Z",
      ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"],
    ],
    [
      "America/New_York, forward",
      "15 2 * * *",
      "America/New_York",
      "2026-03-07T12:00Z",
      ["2026-03-08T07:00:00.000Z", "2026-03-09T06:15:00.000Z"],
    ],
    [
      "America/New_York, back",
      "15 1 * * *",
      "America/New_York",
      "2026-10-31T12:00Z",
      ["2026-11-01T05:15:00.000Z", "2026-11-02T06:15:00.000Z"],
    ],
    [
      "Australia/Lord_Howe, forward by half an hour",
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2026-10-02T18:00Z",
      ["2026-10-03T15:30:00.000Z", "2026-10-04T15:15:00.000Z"],
    ],
    [
      "Australia/Lord_Howe, back by half an hour",
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2026-04-04T00:00Z",
      ["2026-04-04T14:45:00.000Z", "2026-04-05T15:15:00.000Z"],
    ],
    [
      "every minute of a skipped hour is one time",
      "* 2 * * *",
      "Europe/Berlin",
      "2026-03-28T01:58:30Z",
      ["2026-03-28T01:59:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-30T00:00:00.000Z"],
    ],
  ] as const)("%s", (_, cron, tz, from, expected) => {
    expect(timesFrom(cron, tz, from, expected.length)).toEqual(expected)
  })

  it("has the same times looking back as looking ahead, and Cron's own away from clock changes", () => {
    const cron = fc.constantFrom(
      "30 2 * * *",
      "*/20 1-3 * * *",
      "0 0 * * 0",
      "45 1,2 * * *",
      "0 3 1 * 1",
      "59 23 29 2 *",
    )
    const tz = fc.constantFrom(
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Beirut",
      "UTC",
      "Asia/Kolkata",
    )
    const change = fc.constantFrom(
      "2026-03-29T01:00Z",
      "2026-10-25T01:00Z",
      "2026-03-08T07:00Z",
      "2026-11-01T06:00Z",
      "2026-04-04T15:00Z",
      "2026-10-03T15:30Z",
      "2026-07-01T00:00Z",
    )
    fc.assert(
      fc.property(
        cron,
        tz,
        change,
        fc.integer({ min: -2_000, max: 2_000 }),
        (expression, zone, around, minutes) => {
          const given = schedule(expression, zone)
          const now = Instant.fromMillis(Date.parse(around) + minutes * 60_000)
          const next = nextAfter(given, now)
          expect(next > now).toBe(true)
          expect(latestUntil(given, next)).toBe(next)
          const latest = latestUntil(given, now)
          expect(latest <= now).toBe(true)
          expect(nextAfter(given, latest)).toBe(next)
          // Far from clock changes, effect's own Cron finds the same.
          const found = Cron.next(Cron.parseUnsafe(expression, zone), new Date(Number(now / 1_000n)))
          expect(around.startsWith("2026-07") ? found.toISOString() : iso(next)).toBe(iso(next))
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    ["* * * *", "UTC", "cron", "must have five fields"],
    ["0 * * * * *", "UTC", "cron", "must have five fields"],
    ["61 * * * *", "UTC", "cron", "is not a cron expression"],
    ["0 0 31 2 *", "UTC", "cron", "never fires"],
    ["0 0 30 2 */7", "UTC", "cron", "never fires"],
    ["0 0 * * *", "Europe/Atlantis", "tz", "must be an IANA time zone"],
    ["0 0 * * *", "+01:00", "tz", "must be an IANA time zone"],
    ["0 0 * * *", "", "tz", "must be an IANA time zone"],
  ])("%j in %j is refused: its %s %s", (cron, tz, field, message) => {
    expect(parseSchedule({ cron, tz })).toEqual(
      Result.fail([{ path: [field], message: expect.stringContaining(message) }]),
    )
  })

  it("has a time zone of the IANA database, by its region or its single word", () => {
    const others = [
      "UTC",
      "utc",
      "GMT",
      "Etc/GMT+5",
      "US/Eastern",
      "EST5EDT",
      "CET",
      "Japan",
      "EST",
      "mst",
      "HST",
      "America/Indiana/Knox",
    ]
    for (const tz of [...Intl.supportedValuesOf("timeZone"), ...others])
      expect([tz, scheduleProblems({ cron: "0 3 * * *", tz })]).toEqual([tz, []])
  })

  it.each(["BST", "IST", "CST", "AST", "PST", "JST", "bst", "SystemV/AST4ADT", "ECT"])(
    "is refused in %s, and read where an earlier version stored it",
    (tz) => {
      const problems = scheduleProblems({ cron: "0 3 * * *", tz })
      expect(problems).toEqual([{ path: ["tz"], message: expect.stringContaining("no abbreviation") }])
      expect(Result.isSuccess(parseSchedule({ cron: "0 3 * * *", tz }))).toBe(true)
    },
  )

  it("is refused for its cron and its time zone together", () => {
    const fields = Result.match(parseSchedule({ cron: "61 * * * *", tz: "Mars/Base" }), {
      onSuccess: () => [],
      onFailure: (problems) => problems.flatMap(({ path }) => path),
    })
    expect(fields).toEqual(["cron", "tz"])
  })
})

it("keeps what it has read of usual texts alone", () => {
  const usual = { cron: "0 3 * * *", tz: "UTC" }
  const long = { ...usual, cron: `0 3 * * ${"1,".repeat(5_000)}1` }
  expect(parseSchedule(usual)).toBe(parseSchedule(usual))
  expect(parseSchedule(long)).not.toBe(parseSchedule(long))
})
