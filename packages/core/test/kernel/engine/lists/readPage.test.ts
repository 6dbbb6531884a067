import { assert, describe, it } from "@effect/vitest"
import type { OperatorRecord } from "@tocsin/core/heart/model/OperatorRecord"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { orderColumns } from "@tocsin/core/lists/ListDefinitions"
import { Effect, Fiber } from "effect"
import { eachPage, matchingPages } from "../../../../src/kernel/engine/lists/readPage.ts"

const ROWS = 5_000
const LIST = { list: "operators", filter: {}, sort: "name", direction: "asc" } as const

/** A list that reads without a pause, as the embedded database does. */
const openList = () => {
  const turns: Array<"reads" | "other"> = []
  let read = 0
  const page = ({ limit }: { readonly limit: number }) =>
    Effect.sync(() => {
      turns.push("reads")
      const count = Math.min(limit, ROWS - read)
      // Of a row, this list needs its name alone.
      return Array.from({ length: count }, () => ({ name: `${(read += 1)}` }) as OperatorRecord) as never
    })
  /** Runs it beside another fiber, which must have its turn in between. */
  const beside = Effect.fnUntraced(function* <A, E>(reading: Effect.Effect<A, E>) {
    const fiber = yield* Effect.forkChild(reading)
    yield* Effect.yieldNow
    turns.push("other")
    const found = yield* Fiber.join(fiber)
    assert.isBelow(turns.indexOf("other"), turns.lastIndexOf("reads"))
    return found
  })
  return { page, beside }
}

describe("a long list lets others have their turn between its pieces", () => {
  it.effect("while it is searched, and finds what matches behind them", () =>
    Effect.gen(function* () {
      const { beside, page } = openList()
      const pages = matchingPages<"operators">({ orderOf: orderColumns, page }, (rows) =>
        Effect.succeed(rows.filter(({ name }) => name === String(ROWS))),
      )
      const found = yield* beside(pages.page({ ...LIST, from: undefined, isBackward: false, limit: 10 }))
      assert.deepStrictEqual(
        found.map(({ name }) => name),
        [String(ROWS)],
      )
    }),
  )

  it.effect("while it is read whole, and gives each row once", () =>
    Effect.gen(function* () {
      const { beside, page } = openList()
      const names: Array<string> = []
      // It reads pages alone.
      const storage = { orderOf: orderColumns, page } as unknown as Storage["Service"]
      yield* beside(eachPage(storage, LIST, (rows) => void names.push(...rows.map(({ name }) => name))))
      assert.deepStrictEqual(
        names,
        Array.from({ length: ROWS }, (_, n) => `${n + 1}`),
      )
    }),
  )
})
