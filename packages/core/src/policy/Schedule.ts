import { Cron, DateTime, Option, Result } from "effect"
import * as Instant from "../contract/Instant.ts"

/** Times of a wall clock: a cron expression of five fields in a time zone. */
export interface Schedule {
  readonly cron: string
  readonly tz: string
  /** The expression read as if its times were UTC's; {@link toInstant} places them in the zone. */
  readonly walls: Cron.Cron
  readonly zone: DateTime.TimeZone
}

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/u

/** What is wrong with a schedule, said of one of its fields. */
export interface ScheduleProblem {
  readonly field: "cron" | "tz"
  readonly message: string
}

const wrong = (field: ScheduleProblem["field"], message: string) => Result.fail({ field, message })

/** Reads a schedule, or says what is wrong with it. */
export const parseSchedule = (given: {
  readonly cron: string
  readonly tz: string
}): Result.Result<Schedule, ScheduleProblem> => {
  const { cron, tz } = given
  const fields = cron.trim().split(/\s+/u)
  if (fields.length !== 5) {
    return wrong("cron", "must have five fields: minute, hour, day, month, weekday")
  }
  const walls = Cron.parse(cron, "UTC")
  if (Result.isFailure(walls)) return wrong("cron", `is not a cron expression: ${walls.failure.message}`)
  // Effect keeps every name that it has found, so another letter case must not be another name.
  const zone = IANA_NAME.test(tz) ? DateTime.zoneMakeNamed(tz.toLowerCase()) : Option.none()
  if (Option.isNone(zone)) {
    return wrong("tz", "must be an IANA time zone, such as Europe/Berlin")
  }
  if (!hasDate(walls.success, fields)) {
    return wrong("cron", "never fires: no date matches it")
  }
  return Result.succeed({ cron, tz, walls: walls.success, zone: zone.value })
}

const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Whether the day and the weekday must both match, as cron has it where one of them begins with `*`.
 */
const needsBoth = ([, , day, , weekday]: ReadonlyArray<string>): boolean =>
  [day, weekday].some((field) => field?.startsWith("*"))

/**
 * Whether some date matches; a search for one would take many milliseconds to give up. Each date falls
 * on each weekday in some year.
 */
const hasDate = ({ days, months, weekdays }: Cron.Cron, fields: ReadonlyArray<string>): boolean =>
  (weekdays.size > 0 && !needsBoth(fields)) ||
  days.size === 0 ||
  LONGEST_MONTHS.some(
    (longest, n) => (months.size === 0 || months.has(n + 1)) && Math.min(...days) <= longest,
  )

/** The first time of a schedule after `instant`. */
export const nextAfter = (schedule: Schedule, instant: Instant.Instant): Instant.Instant => {
  const since = toMillis(instant)
  let wall = since + Math.min(...offsetsAround(schedule, since)) - MINUTE
  for (;;) {
    wall = Result.getOrThrow(step(schedule.walls, wall, "next"))
    const time = toInstant(schedule, wall)
    if (time > instant) return time
  }
}

/** The last time of a schedule at or before `instant`. */
export const latestUntil = (schedule: Schedule, instant: Instant.Instant): Instant.Instant => {
  const until = toMillis(instant)
  let wall = until + Math.max(...offsetsAround(schedule, until)) + MINUTE
  for (;;) {
    wall = Result.getOrThrow(step(schedule.walls, wall, "prev"))
    const time = toInstant(schedule, wall)
    if (time <= instant) return time
  }
}

/** Effect's Cron throws where no date matches within its search. */
const step = (cron: Cron.Cron, wall: number, direction: "next" | "prev"): Result.Result<number, unknown> =>
  Result.try(() => (direction === "next" ? Cron.next : Cron.prev)(cron, wall).getTime())

const toMillis = (instant: Instant.Instant): number => Math.floor(Number(instant) / 1_000)

const offsetAt = ({ zone }: Schedule, millis: number): number =>
  DateTime.zonedOffset(DateTime.makeZonedUnsafe(millis, { timeZone: zone }))

const offsetsAround = (schedule: Schedule, millis: number): ReadonlyArray<number> =>
  [-DAY, 0, DAY].map((shift) => offsetAt(schedule, millis + shift))

/**
 * The instant at which the zone's clock shows `wall`: the first of two where it is set back, and
 * the end of the gap where it is set forward past `wall`. Never decreases as `wall` grows, so that
 * looking ahead and looking back agree; Effect's own search in a zone does not promise that.
 */
const toInstant = (schedule: Schedule, wall: number): Instant.Instant => {
  const offsets = offsetsAround(schedule, wall)
  const times = offsets.map((offset) => wall - offset).toSorted((a, b) => a - b)
  const shown = times.find((time) => time + offsetAt(schedule, time) === wall)
  if (shown !== undefined) return Instant.fromMillis(shown)
  let [before = wall, after = wall] = [times[0], times.at(-1)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (middle + offsetAt(schedule, middle) < wall) before = middle
    else after = middle
  }
  return Instant.fromMillis(after)
}
