import { assert, describe, it } from "@effect/vitest"
import { SortedChunks } from "../src/SortedChunks.ts"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"

const item = fc.nat(40)

const step = fc.oneof(
  fc.record({ act: fc.constantFrom("add", "delete"), item }),
  fc.record({ act: fc.constantFrom("upward", "downward"), item, limit: fc.integer({ min: 1, max: 30 }) }),
)

const story = fc.record({
  capacity: fc.integer({ min: 1, max: 5 }),
  first: fc.uniqueArray(item),
  steps: fc.array(step, { maxLength: 80 }),
})

const compare = (a: number, b: number): number => a - b

describe("sorted chunks", () => {
  it("hold items as a sorted array does, and are walked from any place in both directions", () => {
    fc.assert(
      fc.property(story, ({ capacity, first, steps }) => {
        const chunks = new SortedChunks({ compare, items: first, capacity })
        const model = new Set(first)
        const walked = (place: number, isUpward: boolean, limit: number) => {
          const found: Array<number> = []
          chunks.walk(
            (other) => other < place,
            isUpward,
            (other) => found.push(other) < limit,
          )
          return found
        }
        for (const one of steps) {
          const sorted = Array.from(model).toSorted(compare)
          if (!("limit" in one)) {
            chunks[one.act === "add" ? "add" : "delete"](one.item)
            model[one.act === "add" ? "add" : "delete"](one.item)
          } else if (one.act === "upward") {
            const above = sorted.filter((other) => other >= one.item)
            assert.deepStrictEqual(walked(one.item, true, one.limit), above.slice(0, one.limit))
          } else {
            const below = sorted.filter((other) => other < one.item).toReversed()
            assert.deepStrictEqual(walked(one.item, false, one.limit), below.slice(0, one.limit))
          }
          assert.strictEqual(chunks.size, model.size)
        }
        assert.deepStrictEqual(walked(-1, true, Infinity), Array.from(model).toSorted(compare))
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})
