import { assert, describe, it } from "@effect/vitest"
import { arranged, placeAmong, type Sorts } from "../../src/state/arranged.ts"
import type { List } from "../../src/state/lists.ts"

interface Row {
  readonly name: string
  readonly status: string
  readonly at: number | null
  readonly http?: { readonly url: string }
}

const row = (name: string, status: string, at: number | null, url = `https://${name}.example`): Row => ({
  name,
  status,
  at,
  http: { url },
})

/** Two pages, as the service orders them. */
const PAGES: ReadonlyArray<ReadonlyArray<Row>> = [
  [row("w1", "ok", 3), row("w10", "critical", null)],
  [row("Ärger", "ok", 1), row("w2", "critical", 2, "https://Shop.example")],
]

const asked: Array<number | undefined> = []

const listWith = (limit?: number): List<Row> => {
  asked.push(limit)
  return {
    key: "rows",
    topics: [],
    read: async (cursor) => ({
      items: PAGES[Number(cursor ?? 0)] ?? [],
      next_cursor: cursor === undefined ? "1" : null,
    }),
  }
}

const placeOf = placeAmong(["critical", "ok"])

const sorts: Sorts<Row> = {
  name: ({ name }) => name,
  state: ({ status }) => placeOf(status),
  at: ({ at }) => at,
}

const namesBy = async (sort: string, search = "") =>
  (await arranged(listWith, { sorts, sort, search }).read(undefined)).items.map(({ name }) => name)

describe("a list that its heads sort", () => {
  it("comes as people read names, over all pages", async () => {
    assert.deepStrictEqual(await namesBy("name"), ["Ärger", "w1", "w2", "w10"])
    assert.deepStrictEqual(await namesBy("-name"), ["w10", "w2", "w1", "Ärger"])
  })

  it("keeps the order of equal rows, and has those without a value last", async () => {
    assert.deepStrictEqual(await namesBy("state"), ["w10", "w2", "w1", "Ärger"])
    assert.deepStrictEqual(await namesBy("-state"), ["w1", "Ärger", "w10", "w2"])
    assert.deepStrictEqual(await namesBy("at"), ["Ärger", "w2", "w1", "w10"])
    assert.deepStrictEqual(await namesBy("-at"), ["w1", "w2", "Ärger", "w10"])
  })

  it("has the rows with all searched words in their values, not in the names of these", async () => {
    assert.deepStrictEqual(await namesBy("", " SHOP critical "), ["w2"])
    assert.deepStrictEqual(await namesBy("name", "w1"), ["w1", "w10"])
    assert.deepStrictEqual(await namesBy("", "url"), [])
    assert.deepStrictEqual(await namesBy("", "null"), [])
    const silence = {
      id: "01900000-0000-7000-8000-000000000009",
      name: "move 1",
      ends_at: "2026-11-29T09:00:00Z",
    }
    const one = (): List<typeof silence> => ({
      key: "",
      topics: [],
      read: async () => ({ items: [silence] }),
    })
    for (const [search, count] of [
      ["move 1", 1],
      ["move 9", 0],
    ] as const)
      assert.strictEqual(
        (await arranged(one, { sorts: {}, search }).read(undefined)).items.length,
        count,
        search,
      )
  })

  it("is the list itself without an order that it knows", async () => {
    asked.length = 0
    for (const sort of ["", "constructor", "-", "size"])
      assert.strictEqual(arranged(listWith, { sorts, sort }).key, "rows")
    assert.deepStrictEqual(asked, [undefined, undefined, undefined, undefined])
    assert.notStrictEqual(
      arranged(listWith, { sorts, sort: "name" }).key,
      arranged(listWith, { sorts, sort: "-name" }).key,
    )
  })

  it("says where it ends after 10,000 rows", async () => {
    const many = (): List<Row> => ({
      key: "many",
      topics: [],
      read: async (cursor = "0") => ({
        items: Array.from({ length: 500 }, (_, place) => row(`w${Number(cursor) + place}`, "ok", 1)),
        next_cursor: `${Number(cursor) + 500}`,
      }),
    })
    const { cut, isSlow, items } = await arranged(many, { sorts, sort: "-name" }).read(undefined)
    assert.strictEqual(items.length, 10_000)
    assert.strictEqual(items[0]?.name, "w9999")
    assert.isTrue(isSlow)
    assert.match(cut ?? "", /^Only the first 10.000 are read$/)
  })
})
