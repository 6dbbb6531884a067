/** The names that lead to the value of a JSON Pointer (RFC 6901): `a/b`, then `c`, for `/a~1b/c`. */
export const pathOfPointer = (pointer: string): ReadonlyArray<string> =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))

/** A list has its items, and no member `length`. */
const isMember = (value: object, name: string): boolean =>
  Object.hasOwn(value, name) && !(Array.isArray(value) && name === "length")

const ownValue = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && isMember(value, name)
    ? // Any object may be read by its names.
      (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** The value to which names of properties lead, one inside the other; `undefined` if there is none. */
export const valueAt = (json: unknown, path: ReadonlyArray<string>): unknown => path.reduce(ownValue, json)

const PLAIN_PATH = /^(?:\$(?:\[\d+\])*|(?:\$(?:\[\d+\])*\.)?[A-Za-z_]\w*(?:\[\d+\]|\.[A-Za-z_]\w*)*)$/

/** The JSON Pointer of a plain path, such as `data.items[0].state` or `$.data`; `undefined` of more than that. */
export const pointerOfPath = (path: string): string | undefined => {
  if (!PLAIN_PATH.test(path)) return undefined
  const names = path.replace(/^\$/, "").split(/[.[\]]+/)
  return names.flatMap((name) => (name === "" ? [] : [`/${name}`])).join("")
}
