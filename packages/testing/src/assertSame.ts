import { assert } from "@effect/vitest"

// Storages may build rows in their own way, on no prototype for instance.
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]))
}

/**
 * Asserts that two values hold the same, down to the difference between an absent field and an
 * undefined one.
 */
export const assertSame = (found: unknown, expected: unknown, message?: string): void =>
  assert.deepStrictEqual(plain(found), plain(expected), message)
