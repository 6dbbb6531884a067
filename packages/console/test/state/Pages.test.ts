import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  recognised,
  cursorOf,
  groupsOf,
  itemsOf,
  keepPages,
  type Pages,
  pageOfRow,
  pagesInSight,
  pageToRead,
  placesOf,
  rowCount,
  rowsBetween,
  unread,
  withoutMoved,
  withPage,
} from "../../src/state/Pages.ts"

/** A server's list of numbers, in pages; its cursors are the number after which a page begins. */
const answer = (all: ReadonlyArray<number>, limit: number, cursor: string | undefined) => {
  const rest = all.filter((each) => cursor === undefined || each > Number(cursor))
  const items = rest.slice(0, limit)
  return { items, next_cursor: rest.length > limit ? String(items.at(-1)) : null }
}

/** Reads what is in sight as the console does, as of a revision. */
const readSeen = (
  before: Pages<number>,
  seen: readonly [first: number, last: number],
  {
    all,
    limit,
    revision,
  }: { readonly all: ReadonlyArray<number>; readonly limit: number; readonly revision: number },
): Pages<number> => {
  let pages = before
  for (;;) {
    const index = pageToRead(pages, seen, revision)
    if (index === undefined) return pages
    pages = withPage(pages, index, answer(all, limit, cursorOf(pages, index)), revision)
  }
}

const readAll = (all: ReadonlyArray<number>, limit: number): Pages<number> => {
  return readSeen(unread, [0, Infinity], { all, limit, revision: 1 })
}

const numbers = fc.uniqueArray(fc.nat(500), { maxLength: 120 }).map((list) => list.sort((a, b) => a - b))
const limits = fc.integer({ min: 1, max: 20 })

describe("pages of a list", () => {
  it("hold every item once, in order, once all are read", () => {
    fc.assert(
      fc.property(numbers, limits, (all, limit) => {
        const pages = readAll(all, limit)
        assert.deepStrictEqual(itemsOf(pages), all)
        assert.strictEqual(rowCount(pages), all.length)
      }),
    )
  })

  it("find each row on its page, also after pages were dropped and read again", () => {
    fc.assert(
      fc.property(numbers, limits, fc.nat(10), (all, limit, kept) => {
        const whole = readAll(all, limit)
        let pages = keepPages(whole, kept, kept)
        assert.strictEqual(rowCount(pages), all.length)
        for (const row of all.keys()) {
          const index = pageOfRow(pages, row)
          pages = readSeen(pages, [index, index], { all, limit, revision: 1 })
          assert.deepStrictEqual(rowsBetween(pages, row, row), [{ row, item: all[row] }])
        }
        assert.deepStrictEqual(itemsOf(pages), all)
      }),
    )
  })

  it("have the rows of a list that is opened again at their places, without items until they are read", () => {
    fc.assert(
      fc.property(numbers, limits, fc.nat(20), (all, limit, seen) => {
        const whole = readAll(all, limit)
        const opened = placesOf(whole)
        assert.deepStrictEqual([rowCount(opened), itemsOf(opened)], [all.length, []])
        const read = readSeen(opened, [seen, seen], { all, limit, revision: 2 })
        assert.deepStrictEqual(read.read[seen]?.items, whole.read[seen]?.items)
        assert.strictEqual(rowCount(read), all.length)
      }),
    )
    assert.strictEqual(placesOf(readAll([], 1)), unread)
    assert.strictEqual(placesOf(), unread)
  })

  it("follow a list that changed, once all pages are read again", () => {
    fc.assert(
      fc.property(numbers, numbers, limits, (before, after, limit) => {
        const pages = readSeen(readAll(before, limit), [0, Infinity], { all: after, limit, revision: 2 })
        assert.deepStrictEqual(itemsOf(pages), after)
      }),
    )
  })

  it("show what changed outside of sight once it comes into sight, and then read nothing twice", () => {
    fc.assert(
      fc.property(numbers, numbers, limits, fc.nat(20), (before, after, limit, seen) => {
        const server = { all: after, limit, revision: 2 }
        const changed = readSeen(readAll(before, limit), [seen, seen], server)
        const [first] = readSeen(changed, [0, 0], server).read
        assert.deepStrictEqual(first?.items, answer(after, limit, undefined).items)
        const whole = readSeen(changed, [0, Infinity], server)
        assert.deepStrictEqual(itemsOf(whole), after)
        assert.isUndefined(pageToRead(whole, [0, Infinity], 2))
      }),
    )
  })

  it("have the first page of an empty list in sight, so that it is read again", () => {
    const empty = withPage<number>(unread, 0, { items: [], next_cursor: null }, 1)
    assert.strictEqual(pageToRead(empty, [0, 0], 2), 0)
    assert.deepStrictEqual(pagesInSight(empty, 0, 40), [0, 0])
    assert.deepStrictEqual(pagesInSight(unread, 0, 40), [0, 0])
  })

  it("have only pages in sight that exist or come next", () => {
    fc.assert(
      fc.property(numbers, limits, fc.nat(200), fc.nat(60), (all, limit, first, more) => {
        const pages = readAll(all, limit)
        const [from, to] = pagesInSight(pages, first, first + more)
        assert.isAtLeast(from, 0)
        assert.isAtMost(from, to)
        assert.isBelow(to, pages.read.length)
      }),
    )
  })

  it("have an item of two lists once, as the later answer has it, also in groups", () => {
    const listOf = (answer: number, ...ids: ReadonlyArray<string>) => {
      const items = ids.map((id) => ({ id }))
      const groups = [
        ["one", 1],
        ["two", items.length - 1],
      ] as const
      return withPage(unread, 0, { items, groups, next_cursor: "more" }, 1, answer)
    }
    const [free, taken] = [listOf(1, "a", "b", "c"), listOf(2, "x", "b")]
    const shown = withoutMoved(free, taken)
    assert.deepStrictEqual(
      itemsOf(shown).map(({ id }) => id),
      ["a", "c"],
    )
    assert.deepStrictEqual([rowCount(shown), shown.next], [2, "more"])
    assert.deepStrictEqual(
      groupsOf(shown)?.map(([name, part]) => [name, rowCount(part)]),
      [
        ["one", 1],
        ["two", 1],
      ],
    )
    assert.strictEqual(withoutMoved(taken, free).read[0], taken.read[0])
  })
})

it("an item that comes again as before is the same object, wherever it stands", async () => {
  const [a, b] = [{ id: 1, at: "x" }, { id: 2 }]
  const again = await recognised<object>([a, b], [{ id: 3 }, { id: 2 }, { id: 1, at: "y" }, a])
  assert.strictEqual(again[1], b)
  assert.strictEqual(again[3], a)
  assert.deepStrictEqual(again, [{ id: 3 }, { id: 2 }, { id: 1, at: "y" }, a])
})
