import { parseCron } from "@tocsin/contract/formats/CronTimes"
import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import { scheduleWarnings } from "@tocsin/contract/overdue/scheduleWarnings"
import { runAfter, timeZoneOf } from "@tocsin/contract/formats/zoneClocks"
import type { Texts } from "../view/FormField.ts"

const WALL = { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } as const

const GRACE = { min: 1_000, max: 7 * 86_400_000 }

/** That a grace is none that the service takes. */
export const graceProblem = (grace: string): string | undefined =>
  boundedMillis(grace, GRACE) === undefined
    ? "Grace must be a duration such as 30m or 2h, of at most 7d."
    : undefined

/** The next times of a cron expression by the clock of its zone, as the service expects them, or what is wrong with it. */
export const nextText = ({ cron = "", grace = "", tz = "" }: Texts, now: number): string => {
  const [times, zone] = [parseCron(cron), timeZoneOf(tz)]
  if ("message" in times) return `The times ${times.message}`
  if (zone === undefined) return "Choose the time zone of the machine that runs it: timedatectl shows it."
  const problem = graceProblem(grace)
  if (problem !== undefined) return problem
  const clock = new Intl.DateTimeFormat(undefined, { ...WALL, timeZone: tz })
  const moments = [now]
  for (let count = 0; count < 3; count += 1) moments.push(runAfter(times, zone, moments[count] ?? 0))
  const next = moments.slice(1).map((moment) => clock.format(moment))
  const warnings = scheduleWarnings({ cron, tz }).map(({ message }) => ` This line ${message}.`)
  return `Next: ${next.join("; ")}. Late ${grace === "1h" ? "an hour" : grace} after each.${warnings.join("")}`
}
