import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as BearerToken from "../../src/request/BearerToken.ts"

const wellFormed = (token: string): boolean => BearerToken.isWellFormed(Redacted.make(token))

describe("a bearer token", () => {
  it("has 1 to 512 visible ASCII characters", () => {
    assert.isTrue(wellFormed("!"))
    assert.isTrue(wellFormed("~".repeat(512)))
    assert.isFalse(wellFormed(""))
    assert.isFalse(wellFormed("a".repeat(513)))
    for (const odd of ["a b", "a\tb", "\u007f", "é", "a\n"]) assert.isFalse(wellFormed(odd), odd)
  })

  it("is one of the listed ones, whichever it is", () => {
    const tokens = ["first", "second", "third"]
    const isListed = BearerToken.isOneOf(tokens.map((token) => Redacted.make(token)))
    for (const token of tokens) assert.isTrue(isListed(Redacted.make(token)))
    for (const token of ["", "firs", "firstt", "First", "first second"]) {
      assert.isFalse(isListed(Redacted.make(token)), token)
    }
  })

  it("is none of an empty list", () => {
    assert.isFalse(BearerToken.isOneOf([])(Redacted.make("")))
  })
})
