import * as fc from "fast-check"

type Path = ReadonlyArray<string>

/** The paths of everything that a value holds. */
const pathsIn = (value: unknown, at: Path = []): ReadonlyArray<Path> =>
  typeof value === "object" && value !== null
    ? [at, ...Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...at, key]))]
    : [at]

const ODD_TEXTS = ["", "x", "1", " ", "\0", "\ud800", "constructor", "x".repeat(300)]
const ODD_TIMES = ["2026-02-30T00:00:00Z", "2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00"]
const ODD_VALUES = [null, true, 0, -1, 1.5, 2 ** 53, [], [null], {}, { a: 1 }]
const JUNK: ReadonlyArray<unknown> = [...ODD_TEXTS, ...ODD_TIMES, ...ODD_VALUES]

const DELETED = Symbol("deleted")

const changed = (value: unknown, [first, ...rest]: Path, replacement: unknown): unknown => {
  if (first === undefined) return replacement
  // Its path has just been found there.
  const held = value as Record<string, unknown>
  const made = changed(held[first], rest, replacement)
  if (Array.isArray(held))
    return held.flatMap((item, at) => (String(at) !== first ? [item] : made === DELETED ? [] : [made]))
  const others = Object.entries(held).filter(([key]) => key !== first)
  return Object.fromEntries(made === DELETED ? others : [...others, [first, made]])
}

const withExtra = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value, extra: 1 } : [value]

/** A valid value with one part replaced, removed or added. It may still be valid. */
export const mutated = (fitting: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(fitting, fc.nat(), fc.constantFrom(...JUNK, DELETED, withExtra)).map(([value, drawn, change]) => {
    const paths = pathsIn(value)
    const path = paths[drawn % paths.length] ?? []
    if (change !== withExtra)
      return path.length === 0 && change === DELETED ? {} : changed(value, path, change)
    return changed(
      value,
      path,
      withExtra(path.reduce<unknown>((held, key) => (held as Record<string, unknown>)[key], value)),
    )
  })
