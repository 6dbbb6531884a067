/** A text in lower case, with as many characters: positions in both are the same. */
const folded = (text: string): string => {
  const lower = text.toLowerCase()
  return lower.length === text.length
    ? lower
    : Array.from({ length: text.length }, (_, at) => {
        const unit = text.charAt(at)
        return unit.toLowerCase().length === 1 ? unit.toLowerCase() : unit
      }).join("")
}

/** Where a part of a glob without stars fits from a place on; -1 if nowhere. */
const placeOf = (part: string, value: string, from: number, isFixed: boolean): number => {
  if (!part.includes("?")) {
    if (!isFixed) return value.indexOf(part, from)
    return value.startsWith(part, from) ? from : -1
  }
  const last = isFixed ? from : value.length - part.length
  for (let at = from; at <= last && at + part.length <= value.length; at++) {
    let length = 0
    while (length < part.length && (part[length] === "?" || part[length] === value[at + length])) length += 1
    if (length === part.length) return at
  }
  return -1
}

/**
 * The runs that the stars of a glob took of a text, each the shortest run with which the whole fits; `undefined` if it does not
 * fit. Case does not matter. Never goes back: it takes no longer than the product of both lengths.
 */
const matchGlob = (glob: string, text: string): ReadonlyArray<string> | undefined => {
  const [first = "", ...rest] = folded(glob).split("*")
  const value = folded(text)
  if (placeOf(first, value, 0, true) === -1) return undefined
  const last = rest.pop()
  if (last === undefined) return value.length === first.length ? [] : undefined
  const taken: Array<string> = []
  let at = first.length
  for (const part of rest) {
    const place = placeOf(part, value, at, false)
    if (place === -1) return undefined
    taken.push(text.slice(at, place))
    at = place + part.length
  }
  const end = value.length - last.length
  if (end < at || placeOf(last, value, end, true) === -1) return undefined
  return [...taken, text.slice(at, end)]
}

/** The runs that the stars of the first fitting glob took; `undefined` if none fits. */
export const matchGlobs = (
  globs: string | ReadonlyArray<string>,
  text: string,
): ReadonlyArray<string> | undefined => {
  for (const glob of typeof globs === "string" ? [globs] : globs) {
    const taken = matchGlob(glob, text)
    if (taken !== undefined) return taken
  }
  return undefined
}
