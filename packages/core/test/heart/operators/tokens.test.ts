import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { isWellFormed } from "@tocsin/contract/operators/BearerToken"
import { roleOf as rolesIn } from "@tocsin/core/heart/operators/tokens"

const sha256 = (text: string): string => hash("sha256", text)
const wellFormed = (token: string): boolean => isWellFormed(Redacted.make(token))

const roleOf = (tokens: Record<"reader" | "operator", ReadonlyArray<string>>) => {
  const redacted = (listed: ReadonlyArray<string>) => listed.map((token) => Redacted.make(token))
  const role = rolesIn(sha256, {
    reader: redacted(tokens.reader),
    operator: redacted(tokens.operator),
  })
  return (token: string) => role(Redacted.make(token))
}

describe("a bearer token", () => {
  it("has 1 to 512 visible ASCII characters", () => {
    assert.isTrue(wellFormed("!"))
    assert.isTrue(wellFormed("~".repeat(512)))
    assert.isFalse(wellFormed(""))
    assert.isFalse(wellFormed("a".repeat(513)))
    for (const odd of ["a b", "a\tb", "\u007f", "é", "a\n"]) assert.isFalse(wellFormed(odd), odd)
  })

  it("has the role of the list that it stands in", () => {
    const role = roleOf({ reader: ["first", "both"], operator: ["second", "third", "both"] })
    assert.strictEqual(role("first"), "reader")
    assert.strictEqual(role("second"), "operator")
    assert.strictEqual(role("third"), "operator")
    assert.strictEqual(role("both"), "operator")
  })

  it("has the role of the list that it stands in now", () => {
    const reader = [Redacted.make("first")]
    const operator = [Redacted.make("second")]
    const role = rolesIn(sha256, { reader, operator })
    const roles = () => ["first", "second", "third"].map((token) => role(Redacted.make(token)))
    assert.deepStrictEqual(roles(), ["reader", "operator", undefined])
    operator.splice(0, 1, Redacted.make("third"))
    assert.deepStrictEqual(roles(), ["reader", undefined, "operator"])
    operator.push(...reader.splice(0))
    assert.deepStrictEqual(roles(), ["operator", undefined, "operator"])
    operator.splice(0)
    assert.deepStrictEqual(roles(), [undefined, undefined, undefined])
  })

  it("has no role unless it is the whole of a listed one", () => {
    const role = roleOf({ reader: ["first"], operator: ["second"] })
    for (const token of ["", "firs", "firstt", "First", "first second"])
      assert.isUndefined(role(token), token)
    assert.isUndefined(roleOf({ reader: [], operator: [] })(""))
  })
})
