import { Result } from "effect"
import { type CronTimes, parseCron } from "@tocsin/contract/CronTimes"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import * as Instant from "@tocsin/contract/Instant"
import { type TimeZone, timeZoneOf } from "./TimeZone.ts"
import { wallAfter, wallBefore } from "./wallTimes.ts"

/** A cron expression of five fields, and the IANA time zone by whose clock it goes. */
export interface ScheduleText {
  readonly cron: string
  readonly tz: string
}

/** Times of a wall clock. */
export interface Schedule extends ScheduleText {
  /** The times of a clock that is never set; {@link toInstant} places them in the zone. */
  readonly walls: CronTimes
  readonly zone: TimeZone
}

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** A fault of a schedule, in one of its fields. */
export interface ScheduleProblem {
  readonly field: "cron" | "tz"
  readonly message: string
}

type Read = Result.Result<Schedule, ReadonlyArray<ScheduleProblem>>

const ZONE_RULE = "must be an IANA time zone, such as Europe/Berlin"

/** Reads a schedule, or says all that is wrong with it. */
export const parseSchedule = ({ cron, tz }: ScheduleText): Read => {
  const zone = timeZoneOf(tz)
  const walls = parseCron(cron)
  if (zone !== undefined && !("message" in walls)) return Result.succeed({ cron, tz, walls, zone })
  return Result.fail([
    ...("message" in walls ? [{ field: "cron", message: walls.message } as const] : []),
    ...(zone === undefined ? [{ field: "tz", message: ZONE_RULE } as const] : []),
  ])
}

// Reading a schedule takes longer than all else that an evaluation of an expectation does, and agents declare few.
const KEPT = 1_000
const read = new Map<string, Read>()

/** The same, for schedules that are read again and again: remembers the last ones. */
export const scheduleOf = (given: ScheduleText): Read => {
  const name = `${given.tz} ${given.cron}`
  const known = read.get(name)
  if (known !== undefined) return known
  if (read.size >= KEPT) read.clear()
  const schedule = parseSchedule(given)
  read.set(name, schedule)
  return schedule
}

/** The faults of a schedule, as faults of its document. */
export const scheduleProblems = (given: ScheduleText): ReadonlyArray<FieldProblem> =>
  Result.match(scheduleOf(given), {
    onSuccess: () => [],
    onFailure: (problems) => problems.map(({ field, message }) => ({ message, path: [field] })),
  })

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
  const until = toMillis(instant)
  let wall = until + Math.max(...offsetsAround(schedule, until)) + MINUTE
  for (;;) {
    wall = wallBefore(schedule.walls, wall)
    const time = toInstant(schedule, wall)
    if (time <= instant) return time
  }
}

const toMillis = (instant: Instant.Instant): number => Math.floor(Number(instant) / 1_000)

const offsetsAround = ({ zone }: Schedule, millis: number): ReadonlyArray<number> =>
  [-DAY, 0, DAY].map((shift) => zone.offsetAt(millis + shift))

/**
 * The instant at which the zone's clock shows `wall`: the first of two where it is set back, and
 * the end of the gap where it is set forward past `wall`. Never decreases as `wall` grows, so that
 * looking ahead and looking back agree; Effect's own search in a zone does not promise that.
 */
const toInstant = (schedule: Schedule, wall: number): Instant.Instant => {
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
