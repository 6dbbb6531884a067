import { readFileSync } from "node:fs"
import { parseAllDocuments } from "yaml"

/** Plain data, as a file holds it. */
export type Data = null | boolean | number | string | ReadonlyArray<Data> | { readonly [name: string]: Data }

/** The documents of a YAML file. Throws for invalid YAML and for duplicate keys. */
export const documentsOf = (path: string): ReadonlyArray<Data> =>
  parseAllDocuments(readFileSync(path, "utf8"), { merge: true }).map((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.toJS()
  })

/** The value at a path of names and positions; `undefined` without one. */
export const at = (data: Data | undefined, ...path: ReadonlyArray<string | number>): Data | undefined =>
  path.reduce<Data | undefined>(
    (found, name) =>
      // An object's own or a list's own: both are read by their name.
      typeof found === "object" && found !== null
        ? (found as Readonly<Record<string | number, Data>>)[name]
        : undefined,
    data,
  )

/** The list at a path; empty without one. */
export const listAt = (
  data: Data | undefined,
  ...path: ReadonlyArray<string | number>
): ReadonlyArray<Data> => {
  const found = at(data, ...path)
  return Array.isArray(found) ? found : []
}

/** The entries of the map at a path; empty without one. */
export const entriesAt = (
  data: Data | undefined,
  ...path: ReadonlyArray<string | number>
): ReadonlyArray<readonly [name: string, value: Data]> => {
  const found = at(data, ...path)
  return typeof found === "object" && found !== null && !Array.isArray(found) ? Object.entries(found) : []
}
