import type { Result } from "effect"
import { parseSchedule, type Schedule, type ScheduleProblem } from "../policy/Schedule.ts"

// Reading a schedule takes longer than all else that a look does, and agents declare few of them.
const KEPT = 1_000
const read = new Map<string, Result.Result<Schedule, ScheduleProblem>>()

/** Reads a schedule, or says what is wrong with it; remembers the last ones. */
export const scheduleOf = (given: {
  readonly cron: string
  readonly tz: string
}): Result.Result<Schedule, ScheduleProblem> => {
  const name = `${given.tz} ${given.cron}`
  const known = read.get(name)
  if (known !== undefined) return known
  if (read.size >= KEPT) read.clear()
  const schedule = parseSchedule(given)
  read.set(name, schedule)
  return schedule
}
