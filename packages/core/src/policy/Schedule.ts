import { Result } from "effect"
import { type CronTimes, parseCron } from "@tocsin/contract/CronTimes"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import * as Instant from "@tocsin/contract/Instant"
import { TIME_ZONE_NAME, TIME_ZONE_RULE } from "@tocsin/contract/timeZoneName"
import { civilFromDays, daysInMonth } from "@tocsin/contract/Instant"

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
const MINUTES_PER_HOUR = 60
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

const allows = (values: ReadonlySet<number>, value: number): boolean => values.size === 0 || values.has(value)

/** The weekday of 1970-01-01, a Thursday. */
const FIRST_WEEKDAY = 4

/** The first time after `wall`; both are milliseconds since 1970 by that clock. */
export const wallAfter = (times: CronTimes, wall: number): number =>
  search(times, Math.floor(wall / MINUTE) + 1, true)

/** The last time before `wall`. */
export const wallBefore = (times: CronTimes, wall: number): number =>
  search(times, Math.ceil(wall / MINUTE) - 1, false)

/**
 * The time nearest to a minute, itself included. Goes by days, and leaves out whole months. Effect's Cron
 * makes a date of each step: up to 1.5 ms for a 29 February on a given weekday, where this takes 0.03.
 */
const search = (times: CronTimes, minute: number, isAhead: boolean): number => {
  for (let at = minute; ;) {
    const today = Math.floor(at / MINUTES_PER_DAY)
    const [year, month, day] = civilFromDays(today)
    const isInMonth = allows(times.months, month)
    if (isInMonth && allowsDay(times, today, day)) {
      const time = timeOfDay(times, at - today * MINUTES_PER_DAY, isAhead)
      if (time !== undefined) return (today * MINUTES_PER_DAY + time) * MINUTE
    }
    const left = isAhead ? daysInMonth(year, month) - day : day - 1
    const days = isInMonth ? 1 : left + 1
    at = isAhead ? (today + days) * MINUTES_PER_DAY : (today - days + 1) * MINUTES_PER_DAY - 1
  }
}

const allowsDay = ({ days, needsBoth, weekdays }: CronTimes, today: number, day: number): boolean => {
  const weekday = (((today + FIRST_WEEKDAY) % 7) + 7) % 7
  return needsBoth ? allows(days, day) && allows(weekdays, weekday) : days.has(day) || weekdays.has(weekday)
}

/** The time of a day nearest to one of its minutes, itself included. */
const timeOfDay = ({ hours, minutes }: CronTimes, from: number, isAhead: boolean): number | undefined => {
  let at = from
  while (at >= 0 && at < MINUTES_PER_DAY) {
    const hour = Math.floor(at / MINUTES_PER_HOUR)
    if (!allows(hours, hour)) at = isAhead ? (hour + 1) * MINUTES_PER_HOUR : hour * MINUTES_PER_HOUR - 1
    else if (allows(minutes, at % MINUTES_PER_HOUR)) return at
    else at += isAhead ? 1 : -1
  }
  return undefined
}
