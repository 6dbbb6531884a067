import { assert, describe, it } from "@effect/vitest"
import { operationsOf } from "../../src/state/policyChanges.ts"

describe("a change of the policy's text", () => {
  const rota = { key: "rotas", name: "a/b", value: { every: "7d" } }
  const route = { key: "routes", value: { to: ["ann"] } }

  it("adds an item below the others of its key, or with its key", () => {
    assert.deepStrictEqual(operationsOf({}, rota), [
      { op: "add", path: "/rotas", value: { "a/b": { every: "7d" } } },
    ])
    assert.deepStrictEqual(operationsOf({ rotas: {} }, rota), [
      { op: "add", path: "/rotas/a~1b", value: { every: "7d" } },
    ])
    assert.deepStrictEqual(operationsOf({}, route), [
      { op: "add", path: "/routes", value: [{ to: ["ann"] }] },
    ])
    assert.deepStrictEqual(operationsOf({ routes: [{}] }, route), [
      { op: "add", path: "/routes/-", value: { to: ["ann"] } },
    ])
  })

  it("replaces the entry that a form changes", () => {
    assert.deepStrictEqual(operationsOf({ routes: [{}, {}] }, route, "1"), [
      { op: "replace", path: "/routes/1", value: { to: ["ann"] } },
    ])
  })
})
