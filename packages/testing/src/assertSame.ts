import { isDeepStrictEqual } from "node:util"
import { assert } from "@effect/vitest"

// Storages may build rows in their own way, on no prototype for instance.
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]))
}

/** How many fields and elements that differ a failure shows, and how much of a text. */
const SHOWN = 5
const SHOWN_CHARACTERS = 300

const short = (value: unknown): unknown =>
  typeof value === "string" && value.length > SHOWN_CHARACTERS
    ? `${value.slice(0, SHOWN_CHARACTERS)}… (${value.length})`
    : value

const fieldsOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof value === "object" && value !== null ? Object.entries(value) : [])

/** The first parts of a value that differ from another one: whole tables would fill the output of a failure. */
const differing = (value: unknown, other: unknown, shown = SHOWN): unknown => {
  const [fields, others] = [fieldsOf(value), fieldsOf(other)]
  if (fields.size === 0) return short(value)
  const differ = Array.from(fields).filter(
    ([name, field]) => !others.has(name) || !isDeepStrictEqual(field, others.get(name)),
  )
  const parts = differ
    .slice(0, shown)
    .map(([name, field]) => [name, differing(field, others.get(name), Math.ceil(shown / 2))] as const)
  const more = differ.length - parts.length
  return Object.fromEntries([...parts, ...(more > 0 ? [["…", `${more} more that differ`]] : [])])
}

/** Asserts that two values hold the same, down to the difference between an absent field and an undefined one. */
export const assertSame = (found: unknown, expected: unknown, message?: string): void => {
  const [left, right] = [plain(found), plain(expected)]
  if (isDeepStrictEqual(left, right)) return
  assert.deepStrictEqual(differing(left, right), differing(right, left), message)
  // They differ in what a part does not show.
  assert.deepStrictEqual(left, right, message)
}
