/**
 * Compiles a glob: `*` stands for any characters, `?` for one code point, everything else for
 * itself, case and backslashes included. A value matches as a whole. Never backtracks further than
 * the latest `*`, so that no pattern takes longer than its length times the value's.
 */
export const compileGlob = (pattern: string): ((value: string) => boolean) => {
  const wanted = Array.from(pattern)
  if (!wanted.includes("*") && !wanted.includes("?")) return (value) => value === pattern
  return (value) => matchesGlob(wanted, Array.from(value))
}

/** Whether a glob names at least one character itself. */
export const hasLiteral = (pattern: string): boolean => /[^*?]/u.test(pattern)

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
