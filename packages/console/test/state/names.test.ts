import { assert, describe, it } from "@effect/vitest"
import { asName, nameHint, namesIn } from "../../src/state/names.ts"

const idOf = ({ id }: { readonly id: string }) => id
const shownOf = (items: ReadonlyArray<{ readonly id: string; readonly title: string | null }>) =>
  items.map(namesIn(items, idOf))

describe("the names that texts become", () => {
  it("are the texts, where they are names already", () => {
    for (const [text, marks] of [
      ["ops_mail", "_"],
      ["anna.mueller", "._-"],
      ["our-status", "-"],
      ["", "_"],
    ] as const)
      assert.strictEqual(asName(text, marks), text)
    assert.strictEqual(nameHint("ops_mail", "_"), "Lower-case letters, digits and _")
  })

  it("are else made of them", () => {
    assert.strictEqual(asName("Ops mail", "_"), "ops_mail")
    assert.strictEqual(asName("ops-mail", "_"), "ops_mail")
    assert.strictEqual(asName("Anna Müller", "._-"), "anna_muller")
    assert.strictEqual(asName("Our status", "-"), "our-status")
    assert.strictEqual(nameHint(" Ops team", "_"), "Name: ops_team")
  })

  it("name all their marks, and are asked for where a text makes none", () => {
    assert.strictEqual(nameHint("a-b", "._-"), "Lower-case letters, digits, ., _ and -")
    assert.strictEqual(nameHint("Ночь", "._-"), "Write a letter from a to z or a digit.")
  })
})

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
