const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const
const STEP = 1_024

/** A size for people: `1.5 GiB`. */
export const sizeText = (bytes: number): string => {
  const power = Math.min(UNITS.length - 1, bytes < STEP ? 0 : Math.floor(Math.log(bytes) / Math.log(STEP)))
  const size = bytes / STEP ** power
  return `${size.toFixed(power === 0 || size >= 100 ? 0 : 1)} ${UNITS[power] ?? ""}`
}
