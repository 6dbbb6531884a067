import type { Window } from "@tocsin/contract/policy/PolicyDocument"
import type { Problems } from "./problemsAt.ts"
import { scheduleProblems, zoneProblems } from "./Schedule.ts"

/** The faults of when a window begins: by its cron, or once. */
export const windowTimeProblems = ({ at: once, cron, tz = "UTC" }: Window): Problems => {
  if (cron !== undefined && once !== undefined)
    return [{ path: ["at"], message: "stands beside cron: give one of them" }]
  if (cron !== undefined) return scheduleProblems({ cron, tz })
  return once === undefined
    ? [{ path: ["cron"], message: "is missing: give it, or at for a window that comes once" }]
    : zoneProblems(tz)
}
