import { wallAfter } from "./cronWalls.ts"
import type { CronTimes } from "./CronTimes.ts"

/** The clocks of a time zone. */
export interface TimeZone {
  /** As ICU writes it. */
  readonly name: string
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
  try {
    const format = new Intl.DateTimeFormat("en-US", fields)
    const resolved = format.resolvedOptions().timeZone
    const zone = { name: resolved, offsetAt: offsetsByDay((millis) => offsetIn(format.format(millis))) }
    zones.set(timeZone, zone)
    return zone
  } catch {
    return undefined
  }
}

/** The names of the zones that this process has read, as ICU writes them. */
export const zonesInUse = (): ReadonlySet<string> => new Set(Array.from(zones.values(), ({ name }) => name))

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

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

const offsetsAround = ({ offsetAt }: TimeZone, millis: number): ReadonlyArray<number> =>
  [-DAY, 0, DAY].map((shift) => offsetAt(millis + shift))

/** How far a clock of the zone is ahead of UTC at most, around a moment. */
export const latestOffset = (zone: TimeZone, millis: number): number =>
  Math.max(...offsetsAround(zone, millis))

/**
 * The moment at which the zone's clock shows `wall`: the first of two where it is set back, and
 * the end of the gap where it is set forward past `wall`. Never decreases as `wall` grows, so that
 * looking ahead and looking back agree; Effect's own search in a zone does not promise that.
 */
export const momentAt = (zone: TimeZone, wall: number): number => {
  const times = offsetsAround(zone, wall)
    .map((offset) => wall - offset)
    .toSorted((a, b) => a - b)
  const shown = times.find((time) => time + zone.offsetAt(time) === wall)
  if (shown !== undefined) return shown
  let [before = wall, after = wall] = [times[0], times.at(-1)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (middle + zone.offsetAt(middle) < wall) before = middle
    else after = middle
  }
  return after
}

/**
 * The first moment after `millis` at which a cron expression fires by the clock of a zone. A time that the clock leaves
 * out is the end of the gap.
 */
export const cronAfter = (times: CronTimes, zone: TimeZone, millis: number): number => {
  let wall = millis + Math.min(...offsetsAround(zone, millis)) - MINUTE
  for (;;) {
    wall = wallAfter(times, wall)
    const moment = momentAt(zone, wall)
    if (moment > millis) return moment
  }
}

/** Some expressions name nothing but times that the clock leaves out, such as those of the Sundays on which it is set. */
const MOST_GAPS = 9

/**
 * The first moment after `millis` at which crons run a job (docs/rules.md#times-that-clocks-leave-out-or-repeat): {@link cronAfter}, but of times
 * with a star, none that the clock leaves out.
 */
export const runAfter = (times: CronTimes, zone: TimeZone, millis: number): number => {
  const first = cronAfter(times, zone, millis)
  let moment = first
  for (let gaps = 0; times.isStarred && gaps < MOST_GAPS; gaps += 1) {
    const wall = moment + zone.offsetAt(moment)
    if (wallAfter(times, wall - MINUTE) === wall) return moment
    moment = cronAfter(times, zone, moment)
  }
  return first
}

/** The last moment at which the zone's clock shows what it shows at `millis`. */
export const lastShowing = (zone: TimeZone, millis: number): number => {
  const offset = zone.offsetAt(millis)
  const later = millis + offset - zone.offsetAt(millis + DAY)
  return later > millis && later + zone.offsetAt(later) === millis + offset ? later : millis
}
