import { largestUnits } from "./durationMillis.ts"

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const
const STEP = 1_024
const DIGITS = 3
const MINUTE = 60

/** With three digits, without zeros at the end: `0.0413`, `1.5`, `12,300`. */
const digits = (value: number): string => {
  const whole = Math.trunc(Math.abs(value))
  if (whole >= 1_000) return Math.round(value).toLocaleString("en-US")
  return String(Number(value.toPrecision(DIGITS)))
}

/** A size for people: `1.5 GiB`. */
export const sizeText = (bytes: number): string => {
  const size = Math.abs(bytes)
  const power = Math.min(SIZE_UNITS.length - 1, size < STEP ? 0 : Math.floor(Math.log2(size) / 10))
  return `${digits(bytes / STEP ** power)} ${SIZE_UNITS[power]}`
}

const secondsText = (seconds: number): string => {
  const size = Math.abs(seconds)
  if (size >= 2 * MINUTE)
    return (
      (seconds < 0 ? "-" : "") +
      largestUnits(size, 2)
        .map(({ count, unit }) => `${count}${unit}`)
        .join(" ")
    )
  if (size >= 1 || size === 0) return `${digits(seconds)} s`
  return size >= 0.001 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds * 1e6)} µs`
}

/** A number of a series with its unit, for people: `41.3 ms`, `1.5 GiB`, `91 %`, `2.3 /s`. */
export const numberText = (value: number, unit: string): string => {
  if (unit === "s") return secondsText(value)
  if (unit === "B") return sizeText(value)
  return unit === "" ? digits(value) : `${digits(value)} ${unit}`
}
