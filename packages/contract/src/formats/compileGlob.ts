/**
 * Compiles a glob: `*` stands for any characters, `?` for one code point, everything else for itself, case and
 * backslashes included. A value matches as a whole. Takes each character of a value once, whatever the pattern.
 */
export const compileGlob = (pattern: string): ((value: string) => boolean) =>
  pattern.includes("?") ? compileWild(pattern) : compileParts(pattern.split("*"))

/** Without `?`, a value has the first part at its start, the last one at its end, the others between, in order. */
const compileParts = ([start = "", ...others]: ReadonlyArray<string>): ((value: string) => boolean) => {
  const end = others.pop()
  if (end === undefined) return (value) => value === start
  return (value) => {
    if (value.length < start.length + end.length) return false
    if (!value.startsWith(start) || !value.endsWith(end)) return false
    const inner = value.slice(start.length, value.length - end.length)
    let from = 0
    return others.every((part) => {
      const at = inner.indexOf(part, from)
      from = at + part.length
      return at !== -1
    })
  }
}

type Characters = ReadonlyArray<string>

/** As {@link compileParts}, for parts with `?`. */
const compileWild = (pattern: string): ((value: string) => boolean) => {
  const [start = [], ...others] = pattern.split("*").map((part) => Array.from(part))
  const end = others.pop()
  const finders = others.map(finderOf)
  return (value) => {
    const given = Array.from(value)
    if (end === undefined) return given.length === start.length && isAt(start, given, 0)
    const last = given.length - end.length
    if (last < start.length || !isAt(start, given, 0) || !isAt(end, given, last)) return false
    let from = start.length
    return finders.every((find) => {
      from = find(given, from, last)
      return from >= 0
    })
  }
}

const isAt = (part: Characters, given: Characters, at: number): boolean =>
  part.every((one, n) => one === "?" || one === given[at + n])

/**
 * Finds where the first occurrence of a part ends, or -1. A bit for each beginning of the part says whether it stands
 * before a character, so that none is looked at again.
 */
const finderOf = (part: Characters) => {
  const bitOf = (n: number) => 1n << BigInt(n)
  const any = part.reduce((bits, one, n) => (one === "?" ? bits | bitOf(n) : bits), 0n)
  const masks = new Map<string | undefined, bigint>()
  for (const [n, one] of part.entries()) masks.set(one, (masks.get(one) ?? any) | bitOf(n))
  const whole = bitOf(Math.max(0, part.length - 1))
  return (given: Characters, from: number, to: number): number => {
    if (part.length === 0) return from
    let begun = 0n
    for (let at = from; at < to; at++) {
      begun = ((begun << 1n) | 1n) & (masks.get(given[at]) ?? any)
      if (begun >= whole) return at + 1
    }
    return -1
  }
}
