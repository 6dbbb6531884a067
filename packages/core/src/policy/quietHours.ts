import { Duration, Result } from "effect"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import * as Instant from "@tocsin/contract/Instant"
import type { Quiet } from "@tocsin/contract/PolicyDocument"
import type { Recurring } from "./occurrences.ts"
import { nextAfter, parseSchedule, type ScheduleText, scheduleProblems } from "./Schedule.ts"

/** The hours in which a receiver is quiet (docs/rules.md#quiet-hours). */
export interface QuietHours extends Recurring {
  readonly below: Quiet["below"]
}

interface Ends {
  readonly from: ScheduleText
  readonly to: ScheduleText
  /** Whether they end on the day on which they begin. */
  readonly isWithinDay: boolean
}

const endsOf = ({ days = "*", hours, tz }: Omit<Quiet, "below">): Ends => {
  const [from = "", to = ""] = hours.split("-")
  const at = (time: string, weekdays: string): ScheduleText => {
    const [hour, minute] = time.split(":")
    return { cron: `${minute} ${hour} * * ${weekdays}`, tz }
  }
  return { from: at(from, days), to: at(to, "*"), isWithinDay: from < to }
}

/** The faults of quiet hours that their schema cannot express. */
export const quietProblems = (quiet: Quiet | undefined): ReadonlyArray<FieldProblem> => {
  if (quiet === undefined) return []
  const { from, to } = endsOf(quiet)
  const [start, end] = quiet.hours.split("-")
  const isEqual = start === end
  // Their times are well-formed: only the time zone can be wrong, and the weekdays on which they begin.
  const zone = scheduleProblems(to)
  const days = scheduleProblems(from).some(({ path: [field] }) => field === "cron")
    ? [{ message: "must be weekdays as in cron, such as mon-fri", path: ["days"] }]
    : []
  return [
    ...(isEqual ? [{ message: "must not end when they begin", path: ["hours"] }] : []),
    ...zone,
    ...days,
  ]
}

/** The shortest time between two times of a schedule is longer. */
const INSTANT = Duration.millis(1)

/** Compiles valid quiet hours. */
export const compileQuiet = (quiet: Quiet): QuietHours => {
  const { from, isWithinDay, to } = endsOf(quiet)
  const end = Result.getOrThrow(parseSchedule(to))
  return {
    below: quiet.below,
    schedule: Result.getOrThrow(parseSchedule(from)),
    // Hours in a gap of the clock begin and end with it, and are empty.
    endOf: (starts_at) => nextAfter(end, isWithinDay ? Instant.minus(starts_at, INSTANT) : starts_at),
  }
}
