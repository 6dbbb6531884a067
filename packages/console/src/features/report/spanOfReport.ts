/** A report is read again when so much time has passed. */
const STEP_MILLIS = 300_000

interface Asked {
  /** Such as `2026-11`; without one, the days count. */
  readonly month?: string
  readonly from?: string
  readonly to?: string
}

const monthText = (at: Date): string => `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}`

/** The last twelve months, the present one first. */
export const monthsUntil = (now: number): ReadonlyArray<string> => {
  const today = new Date(now)
  return Array.from({ length: 12 }, (_, n) =>
    monthText(new Date(today.getFullYear(), today.getMonth() - n, 1)),
  )
}

/** The moments of a report, in the reader's zone: a month, or from the begin of a day to the end of another. */
export const spanOfReport = (
  { from = "", month = "", to = "" }: Asked,
  now: number,
): { readonly from: string; readonly to: string } | undefined => {
  const current = Math.floor(now / STEP_MILLIS) * STEP_MILLIS
  const at = (day: string, fallback: number) => (day === "" ? fallback : Date.parse(day))
  const [year, number] = (month === "" ? monthText(new Date(now)) : month).split("-").map(Number)
  const isOfDays = month === "" && from + to !== ""
  const begin = isOfDays
    ? at(from, current - 86_400_000)
    : new Date(year ?? 0, (number ?? 1) - 1, 1).getTime()
  const end = isOfDays ? at(to, current) : new Date(year ?? 0, number ?? 1, 1).getTime()
  const last = Math.min(end, current)
  return begin < last ? { from: new Date(begin).toISOString(), to: new Date(last).toISOString() } : undefined
}
