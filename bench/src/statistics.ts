/** The value that this part (0 to 1) of the values does not exceed; NaN of none. */
export const quantile = (values: ReadonlyArray<number>, part: number): number => {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

/** The value in the middle, or the mean of the two there; NaN of none. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length / 2
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return (below + above) / 2
}
