/** How many letters differ, are missing or superfluous, or change places with the next one. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  let rowBefore: ReadonlyArray<number> = []
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isExchange = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const exchanged = isExchange ? (rowBefore[j - 2] ?? Infinity) + 1 : Infinity
      next.push(Math.min(replaced, exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    rowBefore = row
    row = next
  }
  return row[b.length] ?? 0
}

const LONGEST_COMPARED = 64
const LETTERS_PER_MISTAKE = 3

/** The known name that was probably meant, ignoring case; `undefined` if none is near. */
export const nearestName = (name: string, known: Iterable<string>): string | undefined => {
  if (name.length > LONGEST_COMPARED) return undefined
  const spelt = name.toLowerCase()
  let nearest: { readonly name: string; readonly mistakes: number } | undefined
  for (const candidate of known) {
    const mistakes =
      candidate.toLowerCase().startsWith(spelt) && spelt.length >= LETTERS_PER_MISTAKE
        ? 1
        : distance(spelt, candidate.toLowerCase())
    const isNear = mistakes <= Math.max(1, Math.floor(candidate.length / LETTERS_PER_MISTAKE))
    if (isNear && (nearest === undefined || mistakes < nearest.mistakes))
      nearest = { name: candidate, mistakes }
  }
  return nearest?.name
}

/**
 * One sentence for each field that is not a known option, with the name that was probably meant.
 * `path` precedes each name. A value that is not an object has no fields.
 */
export const unknownOptions = (
  path: string,
  value: unknown,
  known: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const nearest = nearestName(name, known)
      const taken = known.length === 0 ? "this call takes none" : `it takes ${known.join(", ")}`
      const hint = nearest === undefined ? `: ${taken}` : `; did you mean ${nearest}?`
      return `${path}${name} is not an option${hint}`
    })
}

/** The same for what follows the arguments of a call: an object of known options at most. */
export const unknownArguments = (
  further: ReadonlyArray<unknown>,
  known: ReadonlyArray<string> = [],
): ReadonlyArray<string> =>
  further.flatMap((given, place) =>
    given === undefined || (typeof given === "object" && given !== null)
      ? unknownOptions("", given, place === 0 ? known : [])
      : [`${JSON.stringify(given) ?? typeof given} is an argument too many`],
  )
