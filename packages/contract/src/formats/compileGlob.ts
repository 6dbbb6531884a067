/**
 * Compiles a glob: `*` stands for any characters, `?` for one code point, everything else for
 * itself, case and backslashes included. A value matches as a whole. Never backtracks further than
 * the latest `*`, so that no pattern takes longer than its length times the value's.
 */
export const compileGlob = (pattern: string): ((value: string) => boolean) => {
  if (!pattern.includes("?")) return compileParts(pattern.split("*"))
  const wanted = Array.from(pattern)
  return (value) => matchesGlob(wanted, Array.from(value))
}

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

const matchesGlob = (wanted: ReadonlyArray<string>, given: ReadonlyArray<string>): boolean => {
  let at = 0
  let from = 0
  // Where the latest `*` stands, and up to where in the value it reaches.
  let star = -1
  let reach = 0
  while (from < given.length) {
    if (wanted[at] === "*") {
      star = at
      reach = from
      at += 1
    } else if (at < wanted.length && (wanted[at] === "?" || wanted[at] === given[from])) {
      at += 1
      from += 1
    } else if (star >= 0) {
      at = star + 1
      reach += 1
      from = reach
    } else return false
  }
  while (wanted[at] === "*") at += 1
  return at === wanted.length
}
