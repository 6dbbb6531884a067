import { assert, describe, it } from "@effect/vitest"
import type { QueueNode } from "@tocsin/core/kernel/engine/LinkedQueue"
import { Effect, Fiber, Latch } from "effect"
import { Lane } from "../../src/groups/Lane.ts"

const item = (n: number) => ({ n, caller: { place: undefined as QueueNode | undefined } })

/** A lane whose groups take all items, and end on demand. */
const working = Effect.fnUntraced(function* (width?: ConstructorParameters<typeof Lane>[0]) {
  const lane = new Lane<ReturnType<typeof item>>(width)
  const begun: Array<ReadonlyArray<number>> = []
  const ends: Array<Effect.Effect<unknown>> = []
  const runGroup = Effect.suspend(() => {
    const latch = Latch.makeUnsafe(false)
    begun.push(lane.takeAll().map(({ n }) => n))
    ends.push(latch.open)
    return latch.await
  })
  const fiber = yield* Effect.forkChild(lane.work(runGroup))
  const settle = Effect.forEach([1, 2, 3], () => Effect.yieldNow, { discard: true })
  yield* settle
  const add = (...items: ReadonlyArray<number>) => {
    for (const n of items) lane.add(item(n))
    return settle
  }
  const end = (group: number) => Effect.andThen(ends[group] ?? Effect.void, settle)
  return { lane, begun, add, end, fiber }
})

describe("Lane", () => {
  it.effect("begins with the first item, and gathers later ones for the next group", () =>
    Effect.gen(function* () {
      const { add, begun, end } = yield* working()
      yield* add(1)
      yield* add(2, 3)
      assert.deepStrictEqual(begun, [[1]])
      yield* end(0)
      assert.deepStrictEqual(begun, [[1], [2, 3]])
      yield* end(1)
      yield* add(4)
      assert.deepStrictEqual(begun, [[1], [2, 3], [4]])
    }),
  )

  it.effect("begins a second group only when enough items wait", () =>
    Effect.gen(function* () {
      const { add, begun, end } = yield* working({ groups: 2, besideFrom: 3 })
      yield* add(1)
      yield* add(2, 3)
      assert.deepStrictEqual(begun, [[1]])
      yield* add(4)
      assert.deepStrictEqual(begun, [[1], [2, 3, 4]])
      yield* add(5, 6, 7, 8)
      assert.lengthOf(begun, 2)
      yield* end(1)
      assert.deepStrictEqual(begun[2], [5, 6, 7, 8])
      yield* add(9)
      yield* end(0)
      assert.lengthOf(begun, 3)
      yield* end(2)
      assert.deepStrictEqual(begun[3], [9])
    }),
  )

  it.effect("takes items that were put back before later ones", () =>
    Effect.gen(function* () {
      const { add, begun, end, lane } = yield* working()
      yield* add(1)
      yield* add(4)
      const withdrawn = item(5)
      lane.add(withdrawn)
      lane.putBack([2, 3].map(item))
      withdrawn.caller.place?.leave()
      yield* end(0)
      assert.deepStrictEqual(begun[1], [2, 3, 4])
    }),
  )

  it.effect("begins no group beside a running one for what was put back, until this is released", () =>
    Effect.gen(function* () {
      const { add, begun, lane } = yield* working({ groups: 2, besideFrom: 2 })
      yield* add(1)
      lane.putBack([2, 3].map(item))
      yield* add(4)
      assert.deepStrictEqual(begun, [[1]])
      lane.release()
      yield* add()
      assert.deepStrictEqual(begun, [[1], [2, 3, 4]])
    }),
  )

  it.effect("is at rest when no item waits and no group runs", () =>
    Effect.gen(function* () {
      const { add, end, lane } = yield* working({ groups: 2, besideFrom: 1 })
      yield* lane.atRest
      yield* add(1)
      yield* add(2)
      const rest = yield* Effect.forkChild(lane.atRest)
      yield* end(0)
      assert.isUndefined(rest.pollUnsafe())
      yield* end(1)
      yield* Fiber.join(rest)
    }),
  )
})
