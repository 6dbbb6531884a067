import { assert, describe, it } from "@effect/vitest"
import { StatementNames } from "../../src/client/StatementNames.ts"

describe("StatementNames", () => {
  it("names a text when it is seen again, and keeps the name", () => {
    const names = new StatementNames()
    assert.isUndefined(names.nameOf("SELECT $1"))
    const name = names.nameOf("SELECT $1")
    assert.isString(name)
    assert.strictEqual(names.nameOf("SELECT $1"), name)
  })

  it("gives each text a name of its own", () => {
    const names = new StatementNames()
    const given = ["SELECT $1", "SELECT $2"].map((text) => (names.nameOf(text), names.nameOf(text)))
    assert.strictEqual(new Set(given).size, 2)
  })

  it("names no more than 200 texts, and goes on with those it has named", () => {
    const names = new StatementNames()
    const texts = Array.from({ length: 1_000 }, (_, index) => `SELECT ${index}, $1`)
    const named = texts.filter((text) => (names.nameOf(text), names.nameOf(text) !== undefined))
    assert.strictEqual(named.length, 200)
    assert.deepStrictEqual(
      texts.filter((text) => names.nameOf(text) !== undefined),
      named,
    )
  })

  it("forgets texts seen once when too many others came since", () => {
    const names = new StatementNames()
    assert.isUndefined(names.nameOf("SELECT $1"))
    for (let index = 0; index < 500; index++) names.nameOf(`SELECT ${index}, $1`)
    assert.isUndefined(names.nameOf("SELECT $1"))
  })
})
