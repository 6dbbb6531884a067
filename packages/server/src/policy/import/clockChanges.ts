import { timeZoneOf } from "@tocsin/contract/formats/zoneClocks"

const MINUTE = 60_000
const WEEK = 10_080 * MINUTE
/** Two years from the start of 2026. */
const WEEKS = Array.from({ length: 104 }, (_, n) => 1_767_225_600_000 + n * WEEK)

/** The minutes of the day, as clocks of a time zone show them, that a change of these clocks skips or repeats. */
export const clockChanges = (tz: string): ReadonlyArray<number> => {
  const offsetAt = timeZoneOf(tz)?.offsetAt ?? (() => 0)
  return WEEKS.flatMap((week) => {
    const [before, after] = [offsetAt(week), offsetAt(week + WEEK)]
    if (before === after) return []
    let [low, high] = [week, week + WEEK]
    while (high - low > MINUTE) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    const first = Math.floor((high + Math.min(before, after)) / MINUTE)
    return Array.from({ length: Math.abs(after - before) / MINUTE }, (_, n) => (first + n) % 1_440)
  })
}
