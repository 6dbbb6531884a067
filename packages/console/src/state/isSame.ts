/** The parts of an object, which a list and null are not. */
export const partsOf = (value: unknown): object | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined

const inOrder = (_: string, value: unknown): unknown => {
  const parts = partsOf(value)
  return parts ? Object.fromEntries(Object.entries(parts).toSorted()) : value
}

/** Whether two values of JSON say the same, whatever the order of their keys. */
export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one, inOrder) === JSON.stringify(other, inOrder)
