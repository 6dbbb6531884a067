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

const ANY = "?".codePointAt(0)

const widthOf = (point: number): number => (point > 0xffff ? 2 : 1)

/** Where a part of a glob without stars ends that begins at a place; -1 if it does not fit there. */
const endOf = (part: string, value: string, begin: number): number => {
  let [place, at] = [0, begin]
  while (place < part.length) {
    const wanted = part.codePointAt(place) ?? 0
    const given = value.codePointAt(at)
    if (given === undefined || (wanted !== ANY && wanted !== given)) return -1
    place += widthOf(wanted)
    at += widthOf(given)
  }
  return at
}

/** Where a part fits from a place on; -1 if nowhere. */
const placeOf = (part: string, value: string, from: number): number => {
  if (!part.includes("?")) return value.indexOf(part, from)
  for (let at = from; at < value.length; at += widthOf(value.codePointAt(at) ?? 0))
    if (endOf(part, value, at) !== -1) return at
  return -1
}

/** Where a part begins that ends with the value. */
const lastPlaceOf = (part: string, value: string): number => {
  if (!part.includes("?")) return value.length - part.length
  return Array.from(part).reduce((at) => at - widthOf(value.codePointAt(at - 2) ?? 0), value.length)
}

/**
 * The runs that the stars of a glob took of a text, each the shortest run with which the whole fits; `undefined` if it does not
 * fit. Case does not matter. Never goes back: it takes no longer than the product of both lengths.
 */
const matchGlob = (glob: string, text: string): ReadonlyArray<string> | undefined => {
  const [first = "", ...rest] = folded(glob).split("*")
  const value = folded(text)
  let at = endOf(first, value, 0)
  if (at === -1) return undefined
  const last = rest.pop()
  if (last === undefined) return value.length === at ? [] : undefined
  const taken: Array<string> = []
  for (const part of rest) {
    const place = placeOf(part, value, at)
    if (place === -1) return undefined
    taken.push(text.slice(at, place))
    at = endOf(part, value, place)
  }
  const end = lastPlaceOf(last, value)
  if (end < at || endOf(last, value, end) !== value.length) return undefined
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
