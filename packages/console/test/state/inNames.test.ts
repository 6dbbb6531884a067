import { assert, it } from "@effect/vitest"
import { inNames } from "../../src/state/inNames.ts"
import type { List } from "../../src/state/lists.ts"

interface Named {
  readonly name: string
  readonly url: string
}

/** Two pages of names, as the service orders them. */
const LIST: List<Named> = {
  key: "watches",
  topics: [],
  read: async (cursor) =>
    cursor === undefined
      ? { items: ["w1", "w10"].map((name) => ({ name, url: `https://${name}.example` })), next_cursor: "2" }
      : { items: [{ name: "w2", url: "https://Shop.example" }], next_cursor: null },
}

it("things with names are in the order that people read, over all pages, and found by any of their texts", async () => {
  const namesOf = async (search: string) =>
    (await inNames(LIST, search).read(undefined)).items.map(({ name }) => name)
  assert.deepStrictEqual(await namesOf(""), ["w1", "w2", "w10"])
  assert.deepStrictEqual(await namesOf(" shop "), ["w2"])
  assert.deepStrictEqual(await namesOf("W10.ex"), ["w10"])
  assert.deepStrictEqual(await namesOf("nothing"), [])
  assert.notStrictEqual(inNames(LIST, "a").key, inNames(LIST, "b").key)
})
