import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { flowText, textOfPolicy, withItem } from "../../packages/console/src/state/policyText.ts"

const ROUTE = { key: "routes", value: { match: ["severity = critical"], to: ["mail", "chat"] } }
const LINE = '- { match: ["severity = critical"], to: [mail, chat] }'

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

describe("a route that is added to a text", () => {
  const cases: ReadonlyArray<readonly [text: string, expected: string]> = [
    ["", `routes:\n  ${LINE}\n`],
    ["{}\n", `routes:\n  ${LINE}\n`],
    ["# Ours\nreceivers:\n  chat: {}\n", `# Ours\nreceivers:\n  chat: {}\nroutes:\n  ${LINE}\n`],
    [
      "routes: # in order\n  - { to: [chat] }\n\n# Windows\nwindows:\n  - {}\n",
      `routes: # in order\n  - { to: [chat] }\n  ${LINE}\n\n# Windows\nwindows:\n  - {}\n`,
    ],
    ["routes:\n- to:\n  - chat\nwindows: []", `routes:\n- to:\n  - chat\n${LINE}\nwindows: []\n`],
    ["routes:\n\nwindows: []\n", `routes:\n  ${LINE}\n\nwindows: []\n`],
    ["routes: [] # none\nwindows: []\n", `routes:\n  ${LINE}\nwindows: []\n`],
    ["routes: [{ to: [chat] }] # one\n", `routes: [{ to: [chat] }, ${LINE.slice(2)} ] # one\n`],
    [
      "routes: [\n  { to: [chat] },\n]\nwindows: []\n",
      `routes: [\n  { to: [chat] }, ${LINE.slice(2)} ]\nwindows: []\n`,
    ],
    ["routes:\n  [{ to: [chat] }]\n", `routes:\n  [{ to: [chat] }, ${LINE.slice(2)} ]\n`],
  ]
  it.each(cases)("stands below the others, and the rest stays: %j", (text, expected) => {
    const added = withItem(text, ROUTE)
    assert.strictEqual(added, expected)
    const { routes } = parse(added ?? "")
    assert.deepStrictEqual(routes.at(-1), ROUTE.value)
    assert.lengthOf(routes, (parse(text)?.routes ?? []).length + 1)
  })

  it("is left to the writer of a text of another form", () => {
    assert.isUndefined(withItem('{ "routes": [] }', ROUTE))
    assert.isUndefined(withItem("routes: *others\n", ROUTE))
  })
})
