import { boundedMillis, durationText } from "@tocsin/contract/formats/durationMillis"
import { isPositive, MAX_MATCHERS } from "@tocsin/contract/labels/Matcher"
import { scheduleProblems, type ScheduleText } from "@tocsin/core/heart/policy/Schedule"
import { Schema } from "effect"
import { type Alternatives, and, matchOf, optionalText, optionalTexts } from "./conditions.ts"
import type { MutedRoute, TakenRoute } from "./takeRoutes.ts"
import { timeZoneOf } from "@tocsin/contract/formats/zoneClocks"

const MINUTE = 60_000
const WEEK = 10_080 * MINUTE
/** Two years from the start of 2026. */
const WEEKS = Array.from({ length: 104 }, (_, n) => 1_767_225_600_000 + n * WEEK)

/** The minutes of the day, as clocks of a time zone show them, that a change of these clocks skips or repeats. */
const clockChanges = (tz: string): ReadonlyArray<number> => {
  const offsetAt = timeZoneOf(tz)?.offsetAt ?? (() => 0)
  return WEEKS.flatMap((week) => {
    const [before, after] = [offsetAt(week), offsetAt(week + WEEK)]
    if (before === after) return []
    let [low, high] = [week, week + WEEK]
    while (high - low > MINUTE) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    const first = Math.floor((high + Math.min(before, after)) / MINUTE)
    return Array.from({ length: Math.abs(after - before) / MINUTE }, (_, n) => (first + n) % 1_440)
  })
}

/** A time of a time interval: all of its parts must hold. */
const Interval = Schema.Struct({
  times: Schema.optionalKey(
    Schema.Array(Schema.Struct({ start_time: Schema.String, end_time: Schema.String })),
  ),
  weekdays: optionalTexts,
  days_of_month: optionalTexts,
  months: optionalTexts,
  years: optionalTexts,
  location: optionalText,
})
type Interval = typeof Interval.Type

export const Intervals = Schema.optionalKey(
  Schema.Array(Schema.Struct({ name: Schema.String, time_intervals: Schema.Array(Interval) })),
)

const MINUTES_OF_DAY = 1_440

const isTaken = (schedule: ScheduleText): boolean => scheduleProblems(schedule).length === 0

/** The time zone of an interval; absent where a policy has none, such as the server's own. */
const zoneOf = (tz = "Etc/UTC"): string | undefined => (isTaken({ cron: "0 0 * * *", tz }) ? tz : undefined)

const minuteOf = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(":").map(Number)
  return hours * 60 + minutes
}

/** A list of ranges as cron has it; absent if it says more. */
const rangesOf = (ranges: ReadonlyArray<string> | undefined, names?: number): string | undefined => {
  const texts = (ranges ?? []).map((range) =>
    range
      .toLowerCase()
      .split(":")
      .map((end) => (names === undefined ? end : end.slice(0, /^\d/u.test(end) ? 2 : names)))
      .join("-"),
  )
  return texts.some((text) => text.startsWith("-") || text.includes("--"))
    ? undefined
    : texts.join(",") || "*"
}

const WHOLE_DAY = [{ start_time: "00:00", end_time: "24:00" }]

/** The windows of one time of an interval; absent if a window cannot state it. */
const windowsOf = ({ days_of_month, location, months, times, weekdays, years }: Interval) => {
  const [days, ofMonth, month] = [rangesOf(weekdays, 3), rangesOf(days_of_month), rangesOf(months, 3)]
  const tz = zoneOf(location)
  const isStated = days !== undefined && ofMonth !== undefined && month !== undefined && years === undefined
  // With both, cron means either.
  if (!isStated || tz === undefined || (days !== "*" && ofMonth !== "*")) return undefined
  const windows = (times ?? WHOLE_DAY).map(({ end_time, start_time }) => {
    const start = minuteOf(start_time)
    const length = (minuteOf(end_time) - start + MINUTES_OF_DAY) % MINUTES_OF_DAY || MINUTES_OF_DAY
    return {
      cron: `${start % 60} ${Math.floor(start / 60)} ${ofMonth} ${month} ${days}`,
      tz,
      for: durationText(length * 60_000),
    }
  })
  return windows.every(isTaken) ? windows : undefined
}

/** Whether the clocks may change while a window lasts: it would not end at its usual time. */
const isMoved = ({
  cron,
  for: length,
  tz,
}: {
  readonly cron: string
  readonly for: string
  readonly tz: string
}) => {
  const [minute, hour] = cron.split(" ").map(Number)
  const start = (hour ?? 0) * 60 + (minute ?? 0)
  const minutes = (boundedMillis(length) ?? 0) / 60_000
  return clockChanges(tz).some((at) => (at - start + MINUTES_OF_DAY) % MINUTES_OF_DAY < minutes)
}

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const

/** A part of a day, in minutes, and the days that have it. */
interface Part {
  readonly start: number
  readonly end: number
  readonly days: ReadonlyArray<string>
}

const daysOf = (weekdays: ReadonlyArray<string> = DAYS): ReadonlyArray<string> =>
  weekdays.flatMap((range) => {
    const [first = 0, last = first] = range
      .toLowerCase()
      .split(":")
      .map((name) => DAYS.findIndex((day) => name.startsWith(day)))
    return DAYS.slice(first, last + 1)
  })

/** The times of intervals that every week repeats, or all others; absent if they have other parts. */
const weeklyOf = (intervals: ReadonlyArray<Interval>, isActive: boolean) => {
  const tz = zoneOf(intervals[0]?.location)
  const isWeekly = intervals.every(
    ({ days_of_month, location, months, years }) =>
      days_of_month === undefined && months === undefined && years === undefined && zoneOf(location) === tz,
  )
  if (!isWeekly || tz === undefined) return undefined
  const parts = new Map<string, Part>()
  const add = (start: number, end: number, day: string) => {
    if (start >= end) return
    const { days = [] } = parts.get(`${start}-${end}`) ?? {}
    parts.set(`${start}-${end}`, { start, end, days: [...days, day] })
  }
  for (const day of DAYS) {
    let from = 0
    const ofDay = intervals
      .filter(({ weekdays }) => daysOf(weekdays).includes(day))
      .flatMap(({ times = WHOLE_DAY }) => times)
      .map(({ end_time, start_time }) => [minuteOf(start_time), minuteOf(end_time)] as const)
      .toSorted(([a], [b]) => a - b)
    for (const [start, end] of ofDay) {
      if (isActive) add(from, start, day)
      else add(Math.max(from, start), end, day)
      from = Math.max(from, end)
    }
    if (isActive) add(from, MINUTES_OF_DAY, day)
  }
  return { parts: Array.from(parts.values()), tz }
}

type Weekly = NonNullable<ReturnType<typeof weeklyOf>>

const isDaily = ({ days }: Part): boolean => days.length === DAYS.length

const windowsOfWeek = ({ parts, tz }: Weekly) =>
  parts.map((part) => ({
    cron: `${part.start % 60} ${Math.floor(part.start / 60)} * * ${isDaily(part) ? "*" : part.days.join(",")}`,
    tz,
    for: durationText((part.end - part.start) * 60_000),
  }))

const clockOf = (minute: number): string => {
  const [hours, minutes] = [Math.floor(minute / 60) % 24, minute % 60]
  return `${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`
}

/** The quiet hours that a week has; absent if they differ from day to day. */
const quietOf = ({ parts, tz }: Weekly) => {
  const [first, second] = parts.toSorted((a, b) => b.start - a.start)
  if (first === undefined || parts.length > 2) return undefined
  const isNight =
    second !== undefined && parts.every(isDaily) && first.end === MINUTES_OF_DAY && second.start === 0
  if (second !== undefined && !isNight) return undefined
  const hours = `${clockOf(first.start)}-${clockOf((second ?? first).end)}`
  const isAllDay = first.end - first.start === MINUTES_OF_DAY
  return isAllDay
    ? undefined
    : { hours, tz, below: "critical", ...(!isDaily(first) && { days: first.days.join(",") }) }
}

type Named = ReadonlyMap<string, ReadonlyArray<Interval>>

/** The windows of a route's time intervals, and the names of those that windows cannot state. */
const windowsOfRoute = ({ intervals, isActive }: MutedRoute, named: Named) => {
  const found = intervals.map((name) => ({ name, times: named.get(name) ?? [] }))
  const week = weeklyOf(
    found.flatMap(({ times }) => times),
    isActive,
  )
  if (isActive)
    return {
      week,
      windows: week === undefined ? [] : windowsOfWeek(week),
      lost: week === undefined ? intervals : [],
    }
  const stated = found.flatMap(({ name, times }) => times.map((each) => ({ name, windows: windowsOf(each) })))
  return {
    week,
    windows: stated.flatMap(({ windows = [] }) => windows),
    lost: stated.filter(({ windows }) => windows === undefined).map(({ name }) => name),
  }
}

const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9._-]/gu, "-")
    .replace(/^(?![a-z0-9])/u, "w")
    .slice(0, 50)

/**
 * Windows during which the alerts of routes are muted. Where no condition names the alerts, or another route has some of
 * them, which a window would hold too, quiet hours of the route's receiver, if it has no other route.
 */
export const takeTimes = (
  muted: ReadonlyArray<MutedRoute>,
  named: Named,
  routes: ReadonlyArray<TakenRoute>,
) => {
  const isElsewhere = (all: Alternatives[number], { place }: MutedRoute) =>
    routes.some((other) => other.place !== place && and([all], [other.all])?.length !== 0)
  const windows: Array<object> = []
  const quiet = new Map<string, object>()
  const notes = new Set<string>()
  for (const route of muted) {
    const { condition, intervals, isActive, place, receiver } = route
    const kind = isActive ? "active_time_intervals" : "mute_time_intervals"
    const made = windowsOfRoute(route, named)
    for (const name of made.lost)
      notes.add(
        isActive
          ? `${place}: ${kind} ${name}; all of a route's repeat weekly in one location, an IANA time zone, or cannot be turned around`
          : `time interval ${name}: a window has an IANA time zone, no years, no days from the end of a month, and not both kinds of days`,
      )
    const isNamed = (all: Alternatives[number]) =>
      all.some(isPositive) && all.length <= MAX_MATCHERS && !isElsewhere(all, route)
    for (const all of condition.filter(isNamed))
      for (const window of made.windows) {
        const name = `${plainName(intervals.join("-"))}-${windows.length + 1}`
        windows.push({ name, ...window, match: matchOf(all) })
        if (isMoved(window))
          notes.add(
            `window ${name}: its end where the clocks of ${window.tz} change; it lasts as long on each day`,
          )
      }
    const unnamed = condition.filter((each) => !isNamed(each))
    if (unnamed.length === 0 || made.windows.length === 0) continue
    const hours = made.week && quietOf(made.week)
    const isAlone = routes.filter((one) => one.route.to.includes(receiver)).length === condition.length
    if (hours === undefined || !isAlone || quiet.has(receiver) || unnamed.length < condition.length) {
      notes.add(
        `${place}: ${kind}; a window holds alerts for all receivers and names them by = or a glob and ${MAX_MATCHERS} matchers at most, and its receiver's quiet hours are the same for all`,
      )
      continue
    }
    quiet.set(receiver, hours)
    notes.add(`${place}: ${kind} for critical alerts; quiet hours of ${receiver} do not hold them`)
  }
  return { windows, quiet, notes: Array.from(notes) }
}
