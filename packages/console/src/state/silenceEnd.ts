/** When a silence ends, as the API takes it, and the moment that this is. */
export interface SilenceEnd {
  readonly ends: { readonly for: string } | { readonly ends_at: string }
  readonly at: number
}

const SPAN = /^([1-9]\d{0,5})([smhd])$/
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a duration such as `2h`, or the next time of day such as `08:00` in the reader's zone. */
export const readEnd = (text: string, begin: number): SilenceEnd | undefined => {
  const [, count, unit = ""] = SPAN.exec(text) ?? []
  if (count !== undefined) return { ends: { for: text }, at: begin + Number(count) * (UNITS[unit] ?? 0) }
  const [, hours, minutes] = CLOCK.exec(text) ?? []
  if (hours === undefined) return undefined
  const end = new Date(begin)
  const setTime = () => end.setHours(Number(hours), Number(minutes), 0, 0)
  setTime()
  if (end.getTime() <= begin) {
    end.setDate(end.getDate() + 1)
    // A change of the clock today moved the time, but not that of tomorrow.
    setTime()
  }
  return { ends: { ends_at: end.toISOString() }, at: end.getTime() }
}
