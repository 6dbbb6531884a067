import { assert, describe, it } from "@effect/vitest"
import { closer, type Range } from "../../src/view/sight.ts"

/** The ranges on the way to rows in sight, until there is no further step. */
const way = (from: Range, seen: Range): ReadonlyArray<Range> => {
  const next = closer(from, seen)
  return `${next}` === `${from}` ? [] : [next, ...way(next, seen)]
}

describe("the rows that are drawn", () => {
  it("have those in sight at once, and eight more on each side after four frames", () => {
    assert.deepStrictEqual(way([0, 20], [0, 20]), [
      [-2, 22],
      [-4, 24],
      [-6, 26],
      [-8, 28],
    ])
  })

  it("are at most two more a frame on the way down and up, as long as no other is in sight", () => {
    for (const [from, seen] of [
      [
        [-8, 28],
        [8, 28],
      ],
      [
        [92, 128],
        [92, 112],
      ],
    ] as const) {
      let [first, last]: Range = from
      for (const [a, b] of way(from, seen)) {
        assert.isAtMost(Math.max(0, first - a) + Math.max(0, b - last), 2)
        ;[first, last] = [a, b]
      }
      assert.deepStrictEqual([first, last], [seen[0] - 8, seen[1] + 8])
    }
  })

  it("are those in sight, and eight that were passed, after a leap", () => {
    assert.deepStrictEqual(closer([-8, 28], [500, 520]), [492, 520])
    assert.deepStrictEqual(closer([492, 528], [0, 20]), [0, 28])
  })
})
