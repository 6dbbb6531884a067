import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"
import { dueTime } from "../../../src/heart/overdue/dueTime.ts"
import type { Terms } from "../../../src/heart/model/ExpectationRecord.ts"

/**
 * Crons where clocks are set, minute by minute (docs/rules.md#expectations). Debian's cron 3.0pl1, busybox 1.35,
 * systemd 252 and croner 10 were seen to run nothing at times of a gap that begin with a star.
 */
const MINUTE = 60_000
const AROUND = 2 * 1_440

/** Moments about which clocks are set: half an hour, two hours, at midnight, and a day that vanishes. */
const CHANGES = [
  ["Europe/Berlin", "2027-03-28T01:00Z"],
  ["Europe/Berlin", "2026-10-25T01:00Z"],
  ["America/New_York", "2027-03-14T07:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ["Australia/Lord_Howe", "2027-04-03T15:00Z"],
  ["Antarctica/Troll", "2027-03-28T01:00Z"],
  ["Antarctica/Troll", "2026-10-25T01:00Z"],
  ["Africa/Cairo", "2026-04-23T22:00Z"],
  ["Africa/Cairo", "2026-10-29T21:00Z"],
  ["America/Havana", "2027-03-14T05:00Z"],
  ["America/Havana", "2026-11-01T05:00Z"],
  ["Asia/Beirut", "2027-03-27T22:00Z"],
  ["America/Santiago", "2026-09-06T04:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00Z"],
  ["Pacific/Kwajalein", "1993-08-21T12:00Z"],
] as const

interface Clock {
  readonly zone: string
  /** The first minute, and what the clock shows at it and at each that follows. */
  readonly from: number
  readonly walls: ReadonlyArray<number>
}

const clockAround = (zone: string, change: string): Clock => {
  const fields = {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  } as const
  const format = new Intl.DateTimeFormat("en-US", { ...fields, timeZone: zone, hourCycle: "h23" })
  const from = Date.parse(change) - AROUND * MINUTE
  const walls = Array.from({ length: 2 * AROUND }, (_, n) => {
    const parts = Object.fromEntries(
      format.formatToParts(from + n * MINUTE).map(({ type, value }) => [type, Number(value)]),
    )
    const { day = 0, hour = 0, minute = 0, month = 0, year = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute)
  })
  return { zone, from, walls }
}

const clocks = CHANGES.map(([zone, change]) => clockAround(zone, change))

const isIn = (field: string, value: number): boolean =>
  field.split(",").some((part) => {
    const [range = "", step] = part.split("/")
    const [first = 0, last = first] = range === "*" ? [0, 59] : range.split("-").map(Number)
    return value >= first && value <= last && (value - first) % Number(step ?? 1) === 0
  })

/** The times that are expected: the moment from which a result meets each, and that after which it is missed. */
const timesOf = (cron: string, { from, walls }: Clock): ReadonlyArray<readonly [number, number]> => {
  const [minutes = "", hours = ""] = cron.split(" ")
  const names = (field: string, most: number) =>
    Array.from({ length: most }, (_, value) => isIn(field, value))
  const [namedMinutes, namedHours] = [names(minutes, 60), names(hours, 24)]
  const isNamed = (wall: number) =>
    namedMinutes[(wall / MINUTE) % 60] === true && namedHours[Math.floor(wall / MINUTE / 60) % 24] === true
  const isStarred = minutes.startsWith("*") || hours.startsWith("*")
  const times: Array<readonly [number, number]> = []
  const seen = new Set<number>()
  for (const [n, wall] of walls.entries()) {
    const moment = from + n * MINUTE
    let isInGap = false
    // A day that vanishes is a gap, too.
    for (let left = (walls[n - 1] ?? wall) + MINUTE; left < wall; left += MINUTE)
      isInGap ||= !isStarred && isNamed(left)
    if (isInGap || (isNamed(wall) && !seen.has(wall))) {
      const last = isStarred || isInGap ? n : walls.lastIndexOf(wall)
      times.push([moment, from + last * MINUTE])
    }
    seen.add(wall)
  }
  return times
}

const field = (max: number) => {
  const value = fc.integer({ min: 0, max })
  const step = fc.integer({ min: 2, max: Math.ceil(max / 2) })
  return fc.oneof(
    fc.constant("*"),
    value.map(String),
    fc.array(value, { minLength: 2, maxLength: 3 }).map((values) => values.join(",")),
    step.map((by) => `*/${by}`),
    step.map((by) => `0-${max}/${by}`),
  )
}
const hours = fc.oneof(field(23), fc.constantFrom("0", "1", "2", "0-3", "23"))

const GRACE = 7 * MINUTE

describe("where clocks are set", () => {
  it("a job is expected as crons run it, and missed once the last of them had run it", () => {
    const minuteOf = fc.integer({ min: 0, max: 1_800 })
    fc.assert(
      fc.property(fc.constantFrom(...clocks), field(59), hours, minuteOf, (clock, minutes, hour, n) => {
        const cron = `${minutes} ${hour} * * *`
        const at = clock.from + (AROUND / 2 + n) * MINUTE
        const expected = timesOf(cron, clock).find(([moment]) => moment > at)
        const terms: Terms = {
          after_millis: GRACE,
          severity: "unknown",
          notifications_enabled: true,
          cron,
          tz: clock.zone,
          grace_millis: GRACE,
        }
        const since = Instant.fromMillis(at)
        const due = dueTime({ expected_from: since, running_since: undefined, terms }, undefined)
        assert.strictEqual(
          Number(due / 1_000n),
          (expected?.[1] ?? Number.NaN) + GRACE,
          `${cron} ${clock.zone}`,
        )
      }),
      { numRuns: propertyRuns(400) },
    )
  })
})
