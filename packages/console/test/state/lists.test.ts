import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { exactFirst, readAgents, readAll, search, withLast } from "../../src/state/lists.ts"

interface Check {
  readonly agent_id: string
  readonly check_id: number
}

/** A server's list in pages of changing sizes; its cursors are places in the list. */
const pagesOf =
  <Item>(all: ReadonlyArray<Item>, sizes: ReadonlyArray<number>) =>
  async (cursor: string | undefined) => {
    const from = Number(cursor ?? 0)
    const to = from + (sizes[from % sizes.length] ?? 1)
    return { items: all.slice(from, to), next_cursor: to < all.length ? String(to) : null }
  }

const checks = fc
  .array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 })
  .map((counts): ReadonlyArray<Check> =>
    counts.flatMap((count, agent) =>
      Array.from({ length: count }, (_, check_id) => ({
        agent_id: `agent-${String(agent).padStart(2, "0")}`,
        check_id,
      })),
    ),
  )
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })
const check = <A>(property: fc.IAsyncProperty<A>) => Effect.promise(() => fc.assert(property))

describe("lists that a page puts together", () => {
  it.effect("the grid has each agent once with all its checks, wherever the server's pages end", () =>
    check(
      fc.asyncProperty(checks, sizes, async (all, each) => {
        const read = withLast(pagesOf(all, each), () => 0)
        const agents = await readAll({ read: (cursor) => readAgents(read, cursor) })
        assert.deepStrictEqual(
          agents.flatMap((agent) => agent.checks),
          all,
        )
        const ids = agents.map(({ agent_id }) => agent_id)
        assert.strictEqual(new Set(ids).size, ids.length)
      }),
    ),
  )

  it.effect("the grid reads a page that two of its own share once, and again after a second", () =>
    Effect.promise(async () => {
      const all = Array.from({ length: 20 }, (_, index) => ({ agent_id: `agent-${index >> 2}` }))
      const cursors: Array<string | undefined> = []
      let now = 0
      const page = pagesOf(all, [10])
      const read = withLast(
        (cursor) => {
          cursors.push(cursor)
          return page(cursor)
        },
        () => now,
      )
      await readAll({ read: (cursor) => readAgents(read, cursor) })
      assert.deepStrictEqual(cursors, [undefined, "10"])
      await readAgents(read, "agent-2 10")
      now += 1_000
      await readAgents(read, "agent-2 10")
      assert.deepStrictEqual(cursors, [undefined, "10", "10"])
    }),
  )

  it.effect("a search lists what is found exactly, then the others, or them only if nothing is exact", () =>
    check(
      fc.asyncProperty(
        fc.array(fc.nat(50)),
        fc.array(fc.nat(50), { minLength: 1 }),
        fc.boolean(),
        sizes,
        async (exact, others, isOnly, each) => {
          const found = await readAll({
            read: exactFirst(pagesOf(exact, each), pagesOf(others, each), isOnly),
          })
          assert.deepStrictEqual(found, [...exact, ...(isOnly && exact.length > 0 ? [] : others)])
        },
      ),
    ),
  )

  it.effect("a search finds every match once, in order", () =>
    check(
      fc.asyncProperty(fc.array(fc.nat(50)), sizes, fc.nat(10), async (all, each, divisor) => {
        const matches = (number: number) => number % (divisor + 1) === 0
        const found = await readAll({ read: (cursor) => search(pagesOf(all, each), matches, cursor) })
        assert.deepStrictEqual(found, all.filter(matches))
      }),
    ),
  )
})
