import type { Instant } from "@tocsin/core/contract/Instant"

const MICROS_PER_SECOND = 1_000_000n

const UNITS: ReadonlyArray<readonly [name: string, seconds: number]> = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
]

/** How long ago an instant was, by its largest unit: `3m ago`; what lies ahead is `in 5m`. */
export const ageText = (instant: Instant, now: Instant): string => {
  const seconds = Number((now - instant) / MICROS_PER_SECOND)
  const size = Math.abs(seconds)
  const [name, unit] = UNITS.find(([, length]) => size >= length) ?? ["s", 1]
  const span = `${Math.floor(size / unit)}${name}`
  return seconds < 0 ? `in ${span}` : `${span} ago`
}
