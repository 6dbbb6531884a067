import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { inOrder, leavingOut, readAll, topicsOf } from "../../src/state/lists.ts"

/** A server's list in pages of changing sizes; its cursors are places in the list. */
const pagesOf =
  <Item>(all: ReadonlyArray<Item>, sizes: ReadonlyArray<number>) =>
  async (cursor: string | undefined) => {
    const from = Number(cursor ?? 0)
    const to = from + (sizes[from % sizes.length] ?? 1)
    return { items: all.slice(from, to), next_cursor: to < all.length ? String(to) : null }
  }

const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })
const check = <A>(property: fc.IAsyncProperty<A>) => Effect.promise(() => fc.assert(property))

describe("lists that a page puts together", () => {
  it("are read again when what holds their notifications changes", () => {
    for (const path of ["ops/v1/incidents", "ops/v1/outbox"])
      assert.includeMembers(Array.from(topicsOf(path)), ["incidents", "silences", "policy"])
  })

  it.effect("a search lists what is found exactly, then the others, or them only if nothing is exact", () =>
    check(
      fc.asyncProperty(
        fc.array(fc.nat(50)),
        fc.array(fc.nat(50), { minLength: 1 }),
        fc.boolean(),
        sizes,
        async (exact, others, isOnly, each) => {
          const found = await readAll({
            read: inOrder([pagesOf(exact, each), pagesOf(others, each)], isOnly),
          })
          assert.deepStrictEqual(found, [...exact, ...(isOnly && exact.length > 0 ? [] : others)])
        },
      ),
    ),
  )

  it.effect("several lists follow each other, and none of the pages before the last is empty", () =>
    check(
      fc.asyncProperty(fc.array(fc.array(fc.nat(50)), { minLength: 1 }), sizes, async (lists, each) => {
        const read = inOrder(lists.map((list) => pagesOf(list, each)))
        const counts: Array<number> = []
        const counting = async (cursor: string | undefined) => {
          const page = await read(cursor)
          counts.push(page.items.length)
          return page
        }
        assert.deepStrictEqual(await readAll({ read: counting }), lists.flat())
        assert.notInclude(counts.slice(0, -1), 0)
      }),
    ),
  )

  it.effect("items are left out of a list, and all others are read once, in order", () =>
    check(
      fc.asyncProperty(fc.array(fc.nat(50)), sizes, fc.nat(10), async (all, each, divisor) => {
        const isOut = (number: number) => number % (divisor + 1) !== 0
        const found = await readAll({ read: (cursor) => leavingOut(pagesOf(all, each), isOut, cursor) })
        assert.deepStrictEqual(
          found,
          all.filter((number) => !isOut(number)),
        )
      }),
    ),
  )

  it.effect("are read no further once the answer is no longer wanted", () =>
    Effect.promise(async () => {
      let count = 0
      const read = () => Promise.resolve({ items: [count], next_cursor: `${(count += 1)}` })
      await leavingOut(
        read,
        () => true,
        undefined,
        () => count < 3,
      )
      assert.strictEqual(count, 3)
      await readAll({ read }, { isWanted: () => count < 5 })
      assert.strictEqual(count, 5)
    }),
  )
})
