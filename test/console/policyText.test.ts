import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { entryText, flowText, textOfPolicy } from "../../packages/console/src/state/policyText.ts"

describe("a value on one line", () => {
  it("is the value that YAML reads", () => {
    const value = {
      kind: "messenger",
      from: "Tocsin <tocsin@example.org>",
      to: ["+4915112345678", "ops@example.org", "true", "12", "a: b", "#x", "", "1h", "{", "no"],
      emergency: true,
      digest: { over: 5 },
      "odd key": [],
    }
    assert.deepStrictEqual(parse(flowText(value)), value)
  })
})

describe("a policy as its text", () => {
  it("is the policy that YAML reads", () => {
    const policy = { receivers: { chat: { kind: "debug" } }, routes: [{ to: ["chat"] }] }
    assert.deepStrictEqual(parse(textOfPolicy(policy)), policy)
    assert.strictEqual(textOfPolicy({}), "")
  })
})

describe("an entry of a policy", () => {
  it("stands below its key, with its name where it has one", () => {
    assert.strictEqual(entryText(["routes", "-"], { to: ["chat"] }), "routes:\n  - { to: [chat] }")
    assert.strictEqual(entryText(["rotas", "duty"], { every: "7d" }), "rotas:\n  duty: { every: 7d }")
    const line = ["pages", "shop", "groups", "0", "lines", "-"]
    assert.strictEqual(entryText(line, { name: "Shop" }), "- { name: Shop }")
  })
})
