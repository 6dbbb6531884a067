import { Duration } from "effect"

/** Two right runs do the same within this time: a retry waits for the next round. */
const RETRY = Duration.seconds(30)
/** Pieces follow each other sooner than rounds do. */
export const PIECES = Duration.seconds(2)

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? "a moment" : inner)) ?? ""

const isSame = (one: unknown, other: unknown, within: bigint): boolean => {
  if (typeof one === "bigint" && typeof other === "bigint") {
    const apart = one - other
    return apart <= within && -apart <= within
  }
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, at) => isSame(value, other[at], within))
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return Object.is(one, other)
  const fields = new Map(Object.entries(other))
  const entries = Object.entries(one)
  return (
    entries.length === fields.size &&
    entries.every(([name, value]) => isSame(value, fields.get(name), within))
  )
}

const inOrder = (rows: ReadonlyArray<object>) =>
  rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0))

type Tables = Readonly<Record<string, ReadonlyArray<object>>>

/** The tables whose rows differ by more than the times of a retry, each with its first such row. */
export const differences = (found: Tables, expected: Tables, time = RETRY): ReadonlyArray<string> => {
  const within = Duration.toNanosUnsafe(time) / 1_000n
  return Object.entries(expected).flatMap(([name, rows]) => {
    const others = inOrder(found[name] ?? [])
    const wanted = inOrder(rows)
    if (others.length !== wanted.length) return `${name}: ${others.length} rows instead of ${wanted.length}`
    const at = wanted.findIndex((row, index) => !isSame(row, others[index], within))
    return at < 0 ? [] : `${name}: ${shown(others[at])} instead of ${shown(wanted[at])}`
  })
}

const shown = (row: object | undefined): string =>
  JSON.stringify(row, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)) ?? ""
