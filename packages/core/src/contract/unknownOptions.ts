import { nearestName } from "./nearestName.ts"

/**
 * What is said of fields that are no options, a sentence each, with the name that was probably meant. `path` stands before
 * each name; what is no object has no fields.
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
      const hint = nearest === undefined ? `: it takes ${known.join(", ")}` : `; did you mean ${nearest}?`
      return `${path}${name} is not an option${hint}`
    })
}
