const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 })
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const large = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 })

const plainText = (value: number): string => {
  const size = Math.abs(value)
  return (size < 1_000 ? small : size < 100_000 ? whole : large).format(value)
}

/** The units that people write in place of one, from which size on, and how much each is. */
const WRITTEN: Readonly<Record<string, ReadonlyArray<readonly [from: number, size: number, unit: string]>>> =
  {
    B: ["PiB", "TiB", "GiB", "MiB", "KiB"].map((unit, index) => [
      1_024 ** (5 - index),
      1_024 ** (5 - index),
      unit,
    ]),
    s: [
      [172_800, 86_400, "d"],
      [7_200, 3_600, "h"],
      [120, 60, "min"],
      [1, 1, "s"],
      [1e-3, 1e-3, "ms"],
      [Number.MIN_VALUE, 1e-6, "µs"],
    ],
  }

/** Steps of an axis of bytes that give round texts. */
export const BYTE_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power)

/** A number with its unit, as people write it. */
export const valueText = (value: number, unit: string): string => {
  const found = WRITTEN[unit]?.find(([from]) => Math.abs(value) >= from)
  const [, size, written] = found ?? [0, 1, unit]
  return `${plainText(value / size)} ${written}`.trim()
}
