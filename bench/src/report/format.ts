/** A number with three digits that matter, or all of a large one. */
export const short = (value: number | undefined): string => {
  if (value === undefined || !Number.isFinite(value)) return "–"
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US")
  return value.toPrecision(3)
}
