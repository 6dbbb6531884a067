import { assert, describe, it } from "@effect/vitest"
import { LinkedQueue, type QueueNode } from "@tocsin/core/kernel/engine/LinkedQueue"
import * as fc from "fast-check"

/** `of`: which of the items that ever came leaves. */
const step = fc.record({
  act: fc.constantFrom("add", "addFirst", "take", "leave", "takeAll"),
  of: fc.nat(12),
})

describe("a line", () => {
  it("holds items as an array does, whichever leave it, and however often", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const line = new LinkedQueue<number>()
        const places: Array<QueueNode> = []
        let model: ReadonlyArray<number> = []
        for (const { act, of } of steps) {
          const item = places.length
          if (act === "add") {
            places.push(line.add(item))
            model = [...model, item]
          } else if (act === "addFirst") {
            places.push(line.addFirst(item))
            model = [item, ...model]
          } else if (act === "take") {
            assert.strictEqual(line.take(), model[0])
            model = model.slice(1)
          } else if (act === "leave") {
            places[of]?.leave()
            model = model.filter((one) => one !== of)
          } else {
            assert.deepStrictEqual(line.takeAll(), model)
            model = []
          }
          assert.deepStrictEqual(Array.from(line), model)
          assert.strictEqual(line.size, model.length)
          assert.strictEqual(line.first, model[0])
        }
      }),
    )
  })
})
