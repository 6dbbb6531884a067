import { Result } from "effect"
import { type CronTimes, parseCron } from "@tocsin/contract/formats/CronTimes"
import { wallBefore } from "@tocsin/contract/formats/cronWalls"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import { TIME_ZONE_NAME, TIME_ZONE_RULE } from "@tocsin/contract/formats/timeZoneName"
import {
  cronAfter,
  lastShowing,
  latestOffset,
  momentAt,
  runAfter,
  type TimeZone,
  timeZoneOf,
} from "@tocsin/contract/formats/zoneClocks"

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

/** A moment that comes once. */
export interface Once {
  readonly once: Instant.Instant
}

/** The clock of a time zone. */
export type Clock = Pick<Schedule, "zone">

const MINUTE = 60_000

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
/** People write shorter ones, and a text may have a megabyte. */
const LONGEST_KEPT = 1_000
const read = new Map<string, Read>()

/**
 * Reads a schedule, or states all its faults. Takes every zone that the engine knows: an earlier version may have
 * stored it.
 */
export const parseSchedule = (given: ScheduleText): Read => {
  const name = `${given.tz} ${given.cron}`
  const known = read.get(name)
  if (known !== undefined) return known
  if (name.length > LONGEST_KEPT) return parse(given)
  if (read.size >= KEPT) read.clear()
  const schedule = parse(given)
  read.set(name, schedule)
  return schedule
}

/** Any schedule of a time zone has its clock. */
const hourly = (tz: string): ScheduleText => ({ cron: "0 * * * *", tz })

/** The clock of a time zone of a document that was read. */
export const clockOf = (tz: string): Clock => Result.getOrThrow(parseSchedule(hourly(tz)))

/** The moment at which the clock of a zone shows a time, such as `2026-12-06T02:00`, of a document that was read. */
export const onceAt = (at: string, tz: string): Once => ({
  once: toInstant(clockOf(tz), toMillis(Instant.parse(`${at}:00Z`) ?? Instant.LATEST)),
})

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
export const nextAfter = ({ walls, zone }: Schedule, instant: Instant.Instant): Instant.Instant =>
  Instant.fromMillis(cronAfter(walls, zone, toMillis(instant)))

/** The first time after `instant` at which crons run a job of a schedule. */
export const runAfterInstant = ({ walls, zone }: Schedule, instant: Instant.Instant): Instant.Instant =>
  Instant.fromMillis(runAfter(walls, zone, toMillis(instant)))

/** The last instant at which crons may run a job whose time is `instant`: the second where a fixed time comes twice. */
export const lastRunOf = ({ walls, zone }: Schedule, instant: Instant.Instant): Instant.Instant =>
  walls.isStarred ? instant : Instant.fromMillis(lastShowing(zone, toMillis(instant)))

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
export const latestWall = ({ zone }: Clock, instant: Instant.Instant): number =>
  toMillis(instant) + latestOffset(zone, toMillis(instant))

const toMillis = (instant: Instant.Instant): number => Math.floor(Number(instant) / 1_000)

/** The instant at which the zone's clock shows `wall`, by {@link momentAt}. */
export const toInstant = ({ zone }: Clock, wall: number): Instant.Instant =>
  Instant.fromMillis(momentAt(zone, wall))
