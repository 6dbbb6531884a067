import { civilFromDays, daysInMonth } from "./civilDate.ts"
import { type CronTimes, LAST_DAY } from "./CronTimes.ts"

const MINUTE = 60_000
const MINUTES_PER_HOUR = 60
const MINUTES_PER_DAY = 1_440

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
    const days = daysInMonth(year, month)
    if (isInMonth && allowsDay(times, today, { day, isLast: day === days })) {
      const time = timeOfDay(times, at - today * MINUTES_PER_DAY, isAhead)
      if (time !== undefined) return (today * MINUTES_PER_DAY + time) * MINUTE
    }
    const left = isAhead ? days - day : day - 1
    const step = isInMonth ? 1 : left + 1
    at = isAhead ? (today + step) * MINUTES_PER_DAY : (today - step + 1) * MINUTES_PER_DAY - 1
  }
}

const allowsDay = (
  { days, needsBoth, weekdays }: CronTimes,
  today: number,
  { day, isLast }: { readonly day: number; readonly isLast: boolean },
): boolean => {
  const weekday = (((today + FIRST_WEEKDAY) % 7) + 7) % 7
  const isDay = days.has(day) || (isLast && days.has(LAST_DAY))
  return needsBoth ? (days.size === 0 || isDay) && allows(weekdays, weekday) : isDay || weekdays.has(weekday)
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
