import { Result } from "effect"
import { type CronTimes, parseCron } from "@tocsin/contract/CronTimes"
import { wallAfter, wallBefore } from "@tocsin/contract/cronWalls"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import * as Instant from "@tocsin/contract/Instant"
import { TIME_ZONE_NAME, TIME_ZONE_RULE } from "@tocsin/contract/timeZoneName"

interface TimeZone {
  /** How far its clocks are ahead of UTC at a moment, in milliseconds. */
  readonly offsetAt: (millis: number) => number
}

const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/u
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/u

/** Some 600 at most, of 26 KB each: all letter cases of a name are one. */
const zones = new Map<string, TimeZone>()

/** The time zone of a name in any letter case, if there is one. */
export const timeZoneOf = (name: string): TimeZone | undefined => {
  const timeZone = name.toLowerCase()
  const known = zones.get(timeZone)
  if (known !== undefined) return known
  if (!IANA_NAME.test(name)) return undefined
  // The fewest fields besides the offset: a declaration may ask for thousands of offsets.
  const fields = { timeZone, timeZoneName: "longOffset", weekday: "short" } as const
  const format = Result.try(() => new Intl.DateTimeFormat("en-US", fields))
  if (Result.isFailure(format)) return undefined
  const zone = { offsetAt: offsetsByDay((millis) => offsetIn(format.success.format(millis))) }
  zones.set(timeZone, zone)
  return zone
}

/** Days whose offsets are kept, of each zone. Finding one takes a microsecond and more. */
const KEPT_DAYS = 1_000

/** Offsets of a zone: one that is the same at both ends of a day of UTC is that of the whole day. */
const offsetsByDay = (find: TimeZone["offsetAt"]): TimeZone["offsetAt"] => {
  const beginnings = new Map<number, number>()
  const atBeginning = (day: number): number => {
    const known = beginnings.get(day)
    if (known !== undefined) return known
    if (beginnings.size >= KEPT_DAYS) beginnings.clear()
    const found = find(day * DAY)
    beginnings.set(day, found)
    return found
  }
  return (millis) => {
    const day = Math.floor(millis / DAY)
    const offset = atBeginning(day)
    return offset === atBeginning(day + 1) ? offset : find(millis)
  }
}

/** The offset at the end of a text such as `Sun, GMT+05:30`; UTC is `GMT`. */
const offsetIn = (text: string): number => {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(text) ?? []
  const offset = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return sign === "-" ? -offset : offset
}

/** A cron expression of five fields, and the IANA time zone by whose clock it goes. */
export interface ScheduleText {
  readonly cron: string
  readonly tz: string
}

export interface Schedule extends ScheduleText {
  /** The times of a clock that is never set; {@link toInstant} places them in the zone. */
  readonly walls: CronTimes
  readonly zone: TimeZone
}

/** The clock of a time zone. */
export type Clock = Pick<Schedule, "zone">

const MINUTE = 60_000
const MINUTES_PER_DAY = 1_440
const DAY = MINUTES_PER_DAY * MINUTE

type Read = Result.Result<Schedule, ReadonlyArray<FieldProblem>>

const ZONE_PROBLEM = { path: ["tz"], message: TIME_ZONE_RULE }

const parse = ({ cron, tz }: ScheduleText): Read => {
  const zone = timeZoneOf(tz)
  const walls = parseCron(cron)
  if (zone !== undefined && !("message" in walls)) return Result.succeed({ cron, tz, walls, zone })
  return Result.fail([
    ...("message" in walls ? [{ path: ["cron"], message: walls.message }] : []),
    ...(zone === undefined ? [ZONE_PROBLEM] : []),
  ])
}

// Reading a schedule takes longer than all else that an evaluation of an expectation does, and agents declare few.
const KEPT = 1_000
const read = new Map<string, Read>()

/**
 * Reads a schedule, or states all its faults. Takes every zone that the engine knows: an earlier version may have
 * stored it.
 */
export const parseSchedule = (given: ScheduleText): Read => {
  const name = `${given.tz} ${given.cron}`
  const known = read.get(name)
  if (known !== undefined) return known
  if (read.size >= KEPT) read.clear()
  const schedule = parse(given)
  read.set(name, schedule)
  return schedule
}

/** Any schedule of a time zone has its clock. */
const hourly = (tz: string): ScheduleText => ({ cron: "0 * * * *", tz })

/** The clock of a time zone of a document that was read. */
export const clockOf = (tz: string): Clock => Result.getOrThrow(parseSchedule(hourly(tz)))

/** The faults of a time zone. */
export const zoneProblems = (tz: string): ReadonlyArray<FieldProblem> => scheduleProblems(hourly(tz))

/** The faults of a schedule, as faults of its document. */
export const scheduleProblems = (given: ScheduleText): ReadonlyArray<FieldProblem> => {
  const found = parseSchedule(given)
  const problems = Result.isFailure(found) ? found.failure : []
  const isNamed = TIME_ZONE_NAME.test(given.tz) || problems.includes(ZONE_PROBLEM)
  return isNamed ? problems : [...problems, ZONE_PROBLEM]
}

/** The first time of a schedule after `instant`. */
export const nextAfter = (schedule: Schedule, instant: Instant.Instant): Instant.Instant => {
  const since = toMillis(instant)
  let wall = since + Math.min(...offsetsAround(schedule, since)) - MINUTE
  for (;;) {
    wall = wallAfter(schedule.walls, wall)
    const time = toInstant(schedule, wall)
    if (time > instant) return time
  }
}

/** The last time of a schedule at or before `instant`. */
export const latestUntil = (schedule: Schedule, instant: Instant.Instant): Instant.Instant => {
  let wall = latestWall(schedule, instant) + MINUTE
  for (;;) {
    wall = wallBefore(schedule.walls, wall)
    const time = toInstant(schedule, wall)
    if (time <= instant) return time
  }
}

/** No clock of the zone shows a later time at that instant, in milliseconds since 1970 by the clock. */
export const latestWall = (clock: Clock, instant: Instant.Instant): number =>
  toMillis(instant) + Math.max(...offsetsAround(clock, toMillis(instant)))

const toMillis = (instant: Instant.Instant): number => Math.floor(Number(instant) / 1_000)

const offsetsAround = ({ zone }: Clock, millis: number): ReadonlyArray<number> =>
  [-DAY, 0, DAY].map((shift) => zone.offsetAt(millis + shift))

/**
 * The instant at which the zone's clock shows `wall`: the first of two where it is set back, and
 * the end of the gap where it is set forward past `wall`. Never decreases as `wall` grows, so that
 * looking ahead and looking back agree; Effect's own search in a zone does not promise that.
 */
export const toInstant = (schedule: Clock, wall: number): Instant.Instant => {
  const { zone } = schedule
  const offsets = offsetsAround(schedule, wall)
  const times = offsets.map((offset) => wall - offset).toSorted((a, b) => a - b)
  const shown = times.find((time) => time + zone.offsetAt(time) === wall)
  if (shown !== undefined) return Instant.fromMillis(shown)
  let [before = wall, after = wall] = [times[0], times.at(-1)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (middle + zone.offsetAt(middle) < wall) before = middle
    else after = middle
  }
  return Instant.fromMillis(after)
}
