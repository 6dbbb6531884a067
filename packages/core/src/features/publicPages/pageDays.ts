import * as Instant from "@tocsin/contract/formats/Instant"
import type { Span } from "../../heart/availability/availability.ts"
import { clockOf, latestWall, toInstant } from "../../heart/policy/Schedule.ts"

const DAY = 86_400_000

/** A day of a calendar. */
export interface Day extends Span {
  /** Since 1970. */
  readonly number: number
  readonly date: string
}

/** The day of a moment, and those before it, the newest first. Days may have 23 or 25 hours. */
export const daysUntil = (tz: string, at: Instant.Instant, count: number): ReadonlyArray<Day> => {
  const clock = clockOf(tz)
  let today = Math.floor(latestWall(clock, at) / DAY)
  // Near a change of the clock, the latest wall is up to an hour ahead.
  while (toInstant(clock, today * DAY) > at) today -= 1
  return Array.from({ length: count }, (_, n) => {
    const day = today - n
    return {
      number: day,
      date: Instant.format(Instant.fromMillis(day * DAY)).slice(0, 10),
      from: toInstant(clock, day * DAY),
      to: toInstant(clock, (day + 1) * DAY),
    }
  })
}
