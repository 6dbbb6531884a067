const makeFormats = () => ({
  small: new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }),
  whole: new Intl.NumberFormat("en", { maximumFractionDigits: 0 }),
  large: new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 }),
})

/** Made at the first number: each takes milliseconds, and many processes write none. */
let formats: ReturnType<typeof makeFormats> | undefined

const plainText = (value: number): string => {
  const size = Math.abs(value)
  if (size >= 1e15) return value.toExponential(2)
  formats ??= makeFormats()
  const { large, small, whole } = formats
  // "B" would look like bytes.
  return (size < 1_000 ? small : size < 100_000 ? whole : large).format(value).replace("B", "G")
}

interface WrittenUnit {
  readonly unit: string
  readonly size: number
  /** From this value on. */
  readonly from: number
}

const seconds = (unit: string, size: number, from = size): WrittenUnit => ({ unit, size, from })

const ofBytes = (per: string): ReadonlyArray<WrittenUnit> =>
  ["PiB", "TiB", "GiB", "MiB", "KiB"].map((unit, index) => {
    const size = 1_024 ** (5 - index)
    return { unit: `${unit}${per}`, size, from: size }
  })

/** The units that people write for bytes and seconds, the largest first. */
const WRITTEN: Readonly<Record<string, ReadonlyArray<WrittenUnit>>> = {
  B: ofBytes(""),
  "B/s": ofBytes("/s"),
  Bps: ofBytes("/s"),
  s: [
    seconds("d", 86_400, 2 * 86_400),
    seconds("h", 3_600, 2 * 3_600),
    seconds("min", 60, 2 * 60),
    seconds("s", 1),
    seconds("ms", 1e-3),
    seconds("µs", 1e-6, Number.MIN_VALUE),
  ],
}

/** The unit in which people write a value, and its size. */
export const sizedIn = (unit: string, value: number): { readonly unit: string; readonly size: number } =>
  WRITTEN[unit]?.find(({ from }) => Math.abs(value) >= from) ?? { unit, size: 1 }

/** A number of a series with its unit, for people: `41.3 ms`, `1.5 GiB`, `91 %`, `2.3 /s`. */
export const numberText = (value: number, unit: string): string => {
  const { size, unit: written } = sizedIn(unit, value)
  return `${plainText(value / size)} ${written}`.trim()
}

/** A size for people: `1.5 GiB`. */
export const sizeText = (bytes: number): string => numberText(bytes, "B")
