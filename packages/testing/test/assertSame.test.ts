import { assert, it } from "@effect/vitest"
import { assertSame } from "../src/assertSame.ts"

const failureOf = (found: unknown, expected: unknown): { actual?: unknown; expected?: unknown } => {
  try {
    assertSame(found, expected)
  } catch (error) {
    return Object(error)
  }
  return {}
}

const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, state: "open", text: "x".repeat(1_000) }))

it("a failure shows a few rows of two tables that differ, and of these what differs", () => {
  const { actual, expected } = failureOf(rows, [
    ...rows.slice(0, 5).map((row) => ({ ...row, state: "closed" })),
    ...rows.slice(5),
  ])
  assert.deepStrictEqual(Object(actual)[0], { state: "open" })
  assert.deepStrictEqual(Object(expected)[0], { state: "closed" })
  const lost = failureOf(rows, [])
  assert.isBelow(JSON.stringify([lost.actual, lost.expected]).length, 4_000)
})

it("an absent field differs from an undefined one, and an array from an object", () => {
  assert.property(failureOf({ a: undefined }, {}), "actual")
  assert.property(failureOf([], {}), "actual")
  assert.notProperty(failureOf(rows, structuredClone(rows)), "actual")
})
