import { zoneWarning } from "../formats/timeZoneName.ts"

/** Whether a field leaves out days. */
const isNamed = (field: string): boolean => !/^\*(?:\/0*1)?(?:$|,)/u.test(field)

/** Parts of a line that other crons read otherwise, and the line to write instead (docs/late.md#declare-what-must-report). */
const DIFFERENT: ReadonlyArray<
  readonly [isRead: (day: string, weekday: string, all: string) => boolean, warning: string]
> = [
  [
    // A day that begins with a star and a step is wanted beside the weekday by all of them.
    (day, weekday) => [day, weekday].every((field) => isNamed(field) && !field.startsWith("*")),
    "names a day of the month and a weekday: most crons fire on each, systemd on days that are both; write * for one",
  ],
  [
    (day) => /\*\/(?!0*1(?:,|$))/u.test(day),
    "has a step in its days: busybox begins at day 0; write a range, such as 1-31/2",
  ],
  [
    (_, weekday) => /(?<![\w/])0*7\b/u.test(weekday),
    "has the weekday 7, and systemd takes 5-7 for every day: write 0 for Sunday, and 0,5,6 for 5-7",
  ],
  [
    (_, __, all) => /(?<![-\w])\w+\//u.test(all),
    "has a step behind one value, which busybox leaves out: write a range, such as 5-59/15",
  ],
  [(day) => /\bl\b/iu.test(day), "has L, which few crons know"],
]

const cronWarning = (cron: string): string | undefined => {
  const [, , day = "", , weekday = "", ...more] = cron.trim().split(/\s+/u)
  // Another line is refused.
  if (weekday === "" || more.length > 0) return undefined
  return DIFFERENT.find(([isRead]) => isRead(day, weekday, cron.trim()))?.[1]
}

/** A field of a schedule that is valid, and that other crons or most people read otherwise. */
export const scheduleWarnings = ({
  cron,
  tz,
}: {
  readonly cron?: string | undefined
  readonly tz?: string | undefined
}) =>
  Object.entries({ cron: cron && cronWarning(cron), tz: tz && zoneWarning(tz) }).flatMap(([field, message]) =>
    message === undefined || message === "" ? [] : [{ path: [field], message }],
  )
