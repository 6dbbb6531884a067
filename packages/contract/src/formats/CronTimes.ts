/**
 * The times that a cron expression of five fields names on a clock that is never set. An empty set
 * allows everything.
 */
export interface CronTimes {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** Whether a day and its weekday must both be allowed; otherwise one that is named suffices. */
  readonly needsBoth: boolean
  /** Whether minute or hour begin with a star: crons run such a job by the clock alone, and not at times that it leaves out. */
  readonly isStarred: boolean
}

/** The values of a field, and their names from the lowest value on. */
interface Field {
  readonly min: number
  readonly max: number
  readonly names?: ReadonlyArray<string>
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
const DAYS_PER_WEEK = 7

const FIELDS = {
  minutes: { min: 0, max: 59 },
  hours: { min: 0, max: 23 },
  days: { min: 1, max: 31 },
  months: { min: 1, max: 12, names: MONTHS },
  // 0 and 7 are Sunday.
  weekdays: { min: 0, max: 7, names: WEEKDAYS },
} as const satisfies Readonly<Record<string, Field>>

interface CronProblem {
  readonly message: string
}

const WEEKLY = "0 0 * * 0"

/** Short forms of other programs, and the five fields that they stand for. */
const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": WEEKLY,
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
}

class FieldError extends Error {}

/**
 * Reads a cron expression, or returns what is wrong with it. Without effect, so that an agent examines
 * its configuration as the server does.
 */
export const parseCron = (cron: string): CronTimes | CronProblem => {
  const fields = cron.trim().split(/\s+/u)
  const meant = NICKNAMES[cron.trim().toLowerCase()]
  if (meant !== undefined)
    return {
      message: `must have five fields: write ${meant} for ${cron.trim()}${meant === WEEKLY ? ", or 0 0 * * 1 where systemd means it" : ""}`,
    }
  if (fields.length !== 5) return { message: "must have five fields: minute, hour, day, month, weekday" }
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields
  try {
    const days = valuesOf(day, FIELDS.days)
    const weekdays = new Set([...valuesOf(weekday, FIELDS.weekdays)].map((value) => value % DAYS_PER_WEEK))
    // As cron has it where one of them begins with `*`.
    const hasStar = day.startsWith("*") || weekday.startsWith("*")
    const times = {
      minutes: valuesOf(minute, FIELDS.minutes),
      hours: valuesOf(hour, FIELDS.hours),
      days,
      months: valuesOf(month, FIELDS.months),
      weekdays,
      needsBoth: hasStar || days.size === 0 || weekdays.size === 0,
      isStarred: minute.startsWith("*") || hour.startsWith("*"),
    }
    return hasDate(times) ? times : { message: "never fires: no date matches it" }
  } catch (error) {
    if (error instanceof FieldError) return { message: `is not a cron expression: ${error.message}` }
    throw error
  }
}

/** The values of one field. A field that begins with `*` or `*` + `/1` allows everything. */
const valuesOf = (text: string, field: Field): ReadonlySet<number> => {
  const parts = text
    .split(",")
    .map((part) => (field === FIELDS.days && /^l$/iu.test(part) ? [LAST_DAY] : partValues(part, field)))
  return /^\*(?:\/0*1)?(?:,|$)/.test(text) ? new Set() : new Set(parts.flat())
}

const partValues = (part: string, field: Field): ReadonlyArray<number> => {
  const [range = "", ...steps] = part.split("/")
  const step = steps.length === 0 ? undefined : stepOf(steps.join("/"))
  const [from, to] = range === "*" ? [field.min, field.max] : boundsOf(range, field)
  const last = to ?? (step === undefined ? from : field.max)
  const by = step ?? 1
  return Array.from({ length: Math.floor((last - from) / by) + 1 }, (_, n) => from + n * by)
}

const boundsOf = (range: string, field: Field): readonly [number, number | undefined] => {
  const [left = "", ...right] = range.split("-")
  const from = valueOf(left, field)
  if (right.length === 0) return [from, undefined]
  const to = valueOf(right.join("-"), field)
  if (to < from) throw new FieldError(`${range} ends before it begins`)
  return [from, to]
}

/** Stands for the last day of any month in {@link CronTimes.days}. */
export const LAST_DAY = 32

const valueOf = (text: string, { min, max, names = [] }: Field): number => {
  const named = names.indexOf(text.toLowerCase())
  const value = named >= 0 ? min + named : numberOf(text)
  if (value === undefined || value < min || value > max)
    throw new FieldError(`${JSON.stringify(text)} is not a value from ${min} to ${max}`)
  return value
}

/** A step beyond the field leaves its first value, as Debian's cron has it. */
const stepOf = (text: string): number => {
  const step = numberOf(text)
  if (step === undefined || step < 1) throw new FieldError(`/${text} is not a step of 1 or more`)
  return step
}

const numberOf = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined)

const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether some date matches: without one, a search has no end. Each date falls on each weekday in some year. */
const hasDate = ({ days, months, needsBoth }: CronTimes): boolean =>
  !needsBoth ||
  days.size === 0 ||
  LONGEST_MONTHS.some(
    (longest, n) =>
      (months.size === 0 || months.has(n + 1)) && (days.has(LAST_DAY) || Math.min(...days) <= longest),
  )
