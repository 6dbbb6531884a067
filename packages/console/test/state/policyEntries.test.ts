import { assert, describe, it } from "@effect/vitest"
import {
  entryAt,
  isChanged,
  operationsOf,
  type Policy,
  presentOf,
  removalOf,
} from "../../src/state/policyEntries.ts"

const rota = { every: "7d", order: ["ann", "bob"] }
const policyOf = (value: object): Policy => value

describe("a change of the policy's text", () => {
  it("adds an entry below the others of its key, or with its key", () => {
    assert.deepStrictEqual(operationsOf({}, ["rotas", "a/b"], rota), [
      { op: "add", path: "/rotas", value: { "a/b": rota } },
    ])
    assert.deepStrictEqual(operationsOf(policyOf({ rotas: {} }), ["rotas", "a/b"], rota), [
      { op: "add", path: "/rotas/a~1b", value: rota },
    ])
    assert.deepStrictEqual(operationsOf({}, ["routes", "-"], { to: ["ann"] }), [
      { op: "add", path: "/routes", value: [{ to: ["ann"] }] },
    ])
    assert.deepStrictEqual(operationsOf(policyOf({ routes: [{}] }), ["routes", "-"], { to: ["ann"] }), [
      { op: "add", path: "/routes/-", value: { to: ["ann"] } },
    ])
  })

  it("writes of an entry that changes no more than the keys that differ", () => {
    const policy = policyOf({
      routes: [{}, { to: ["ann"], wait: "1m", steps: [{ after: "5m", to: ["bob"] }] }],
    })
    const opened = entryAt(policy, ["routes", "1"]) ?? assert.fail()
    const changed = { to: ["ann"], remind: "1h", steps: [{ after: "10m", to: ["bob"] }] }
    assert.deepStrictEqual(operationsOf(policy, opened.path, changed, opened), [
      { op: "remove", path: "/routes/1/wait" },
      { op: "replace", path: "/routes/1/steps/0/after", value: "10m" },
      { op: "add", path: "/routes/1/remind", value: "1h" },
    ])
    assert.deepStrictEqual(operationsOf(policy, opened.path, opened.value, opened), [])
  })

  it("replaces a list of texts as a whole", () => {
    const policy = policyOf({ rotas: { primary: rota } })
    const opened = entryAt(policy, ["rotas", "primary"]) ?? assert.fail()
    assert.deepStrictEqual(operationsOf(policy, opened.path, { ...rota, order: ["bob", "ann"] }, opened), [
      { op: "replace", path: "/rotas/primary/order", value: ["bob", "ann"] },
    ])
  })
})

describe("a removal from the policy", () => {
  it("takes the key of the only entry with it, and leaves the last line of a group", () => {
    const lines = [{ name: "Web" }, { name: "Shop" }]
    const removed = (value: object, path: ReadonlyArray<string>) => {
      const policy = policyOf(value)
      return removalOf(policy, entryAt(policy, path))
    }
    assert.deepStrictEqual(removed({ routes: [{ to: ["ann"] }] }, ["routes", "0"]), [
      { op: "remove", path: "/routes" },
    ])
    const place = ["pages", "shop", "groups", "0", "lines", "0"]
    const pageOf = (shown: ReadonlyArray<object>) => ({ pages: { shop: { groups: [{ lines: shown }] } } })
    assert.deepStrictEqual(removed(pageOf(lines), place), [
      { op: "remove", path: "/pages/shop/groups/0/lines/0" },
    ])
    assert.deepStrictEqual(removed(pageOf(lines.slice(1)), place), [])
  })
})

describe("an entry while others edit the policy", () => {
  const opened = entryAt(policyOf({ routes: [{ to: ["ann"] }, { to: ["bob"] }] }), ["routes", "1"])

  it.each([
    [
      "is found where it moved to",
      [{ to: ["dora"] }, { to: ["ann"] }, { to: ["bob"] }],
      ["routes", "2"],
      false,
    ],
    ["is the changed one in its place", [{ to: ["ann"] }, { to: ["eve"] }], ["routes", "1"], true],
    ["is gone where the list is shorter", [{ to: ["ann"] }], undefined, true],
  ])("%s", (_, routes, path, changed) => {
    const former = opened ?? assert.fail()
    const present = presentOf(policyOf({ routes }), former)
    assert.deepStrictEqual([present?.path, isChanged(present, former)], [path, changed])
  })
})
