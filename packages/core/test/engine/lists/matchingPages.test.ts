import { assert, describe, it } from "@effect/vitest"
import type { OperatorRecord } from "@tocsin/core/model/OperatorRecord"
import { Effect, Fiber } from "effect"
import { matchingPages } from "../../../src/engine/lists/readPage.ts"

const ROWS = 5_000

describe("a search through a long list", () => {
  it.effect("lets others have their turn between its pieces, and finds what matches behind them", () =>
    Effect.gen(function* () {
      const turns: Array<string> = []
      let read = 0
      const pages = matchingPages<"operators">(
        {
          page: ({ limit }) =>
            Effect.sync(() => {
              turns.push("search")
              const count = Math.min(limit, ROWS - read)
              // Of a row, this list needs its name alone.
              return Array.from(
                { length: count },
                () => ({ name: `${(read += 1)}` }) as OperatorRecord,
              ) as never
            }),
        },
        ({ name }) => name === String(ROWS),
      )
      const request = { list: "operators", filter: {}, sort: "name", direction: "asc" } as const
      const searching = yield* Effect.forkChild(
        pages.page({ ...request, from: undefined, isBackward: false, limit: 10 }),
      )
      yield* Effect.yieldNow
      turns.push("other")
      const found = yield* Fiber.join(searching)
      assert.deepStrictEqual(
        found.map(({ name }) => name),
        [String(ROWS)],
      )
      assert.isBelow(turns.indexOf("other"), turns.lastIndexOf("search"))
    }),
  )
})
