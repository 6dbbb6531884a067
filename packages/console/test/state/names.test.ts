import { assert, describe, it } from "@effect/vitest"
import { namesIn } from "../../src/state/names.ts"

const idOf = ({ id }: { readonly id: string }) => id
const shownOf = (items: ReadonlyArray<{ readonly id: string; readonly title: string | null }>) =>
  items.map(namesIn(items, idOf))

describe("the names of rows", () => {
  it("are titles, or else IDs", () => {
    assert.deepStrictEqual(
      shownOf([
        { id: "web-1/http", title: "Shop" },
        { id: "web-1/disk", title: null },
      ]),
      ["Shop", "web-1/disk"],
    )
  })

  it("are both where things of different IDs have one title", () => {
    const [shop, other] = [
      { id: "web-1/http", title: "Shop" },
      { id: "web-2/http", title: "Shop" },
    ]
    assert.deepStrictEqual(shownOf([shop, other, { id: "web-1/disk", title: "Disk" }]), [
      "Shop (web-1/http)",
      "Shop (web-2/http)",
      "Disk",
    ])
    assert.deepStrictEqual(shownOf([shop, shop]), ["Shop", "Shop"])
  })
})
