import type { Instant } from "@tocsin/core/contract/Instant"

const MICROS_PER_SECOND = 1_000_000n

const UNITS: ReadonlyArray<readonly [name: string, seconds: number]> = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
]

/** How long it was between two instants, each cut to the second as it is shown, in the two largest units: `2 h 5 min`. */
export const spanText = (from: Instant, to: Instant): string => {
  let seconds = to > from ? Number(to / MICROS_PER_SECOND - from / MICROS_PER_SECOND) : 0
  const parts = UNITS.map(([name, size]) => {
    const count = Math.floor(seconds / size)
    seconds -= count * size
    return { name, count }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  if (first === -1) return "0 s"
  const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0)
  return shown.map(({ name, count }) => `${count} ${name}`).join(" ")
}
