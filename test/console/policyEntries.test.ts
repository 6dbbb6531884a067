import { assert, describe, it } from "@effect/vitest"
import {
  entryAt,
  isChanged,
  operationsOf,
  type Policy,
  presentOf,
} from "../../packages/console/src/state/policyEntries.ts"

const routes = (...to: ReadonlyArray<string>): Policy => ({ routes: to.map((name) => ({ to: [name] })) })

const windows = (...names: ReadonlyArray<string>): Policy => ({
  windows: names.map((name) => ({ name, cron: "0 2 * * 0", for: "2h", match: ["agent_id = a"] })),
})

/** Where an entry is now, and whether it changed. */
const found = (before: Policy, path: ReadonlyArray<string>, after: Policy) => {
  const opened = entryAt(before, path)
  if (opened === undefined) return "no entry"
  const present = presentOf(after, opened)
  return [present?.path.join("/"), isChanged(present, opened)]
}

describe("an entry of a policy that changes meanwhile", () => {
  it("is found where it moved", () => {
    assert.deepStrictEqual(found(routes("a", "b"), ["routes", "1"], routes("b", "a")), ["routes/0", false])
    assert.deepStrictEqual(found(routes("a", "b"), ["routes", "1"], routes("c", "a", "b")), [
      "routes/2",
      false,
    ])
  })

  it("is changed in its place while its list is as long", () => {
    assert.deepStrictEqual(found(routes("a", "b"), ["routes", "1"], routes("a", "c")), ["routes/1", true])
  })

  it("is gone if its list is shorter or longer, or has none of its name", () => {
    assert.deepStrictEqual(found(routes("a", "b"), ["routes", "0"], routes("b")), [undefined, true])
    assert.deepStrictEqual(found(routes("a"), ["routes", "0"], {}), [undefined, true])
    assert.deepStrictEqual(found(windows("a", "b"), ["windows", "0"], windows("c", "b")), [undefined, true])
  })

  it("is found by its name", () => {
    const after = { windows: [...(windows("b").windows ?? []), { ...windows("a").windows?.[0], for: "1h" }] }
    assert.deepStrictEqual(found(windows("a", "b"), ["windows", "0"], after as Policy), ["windows/1", true])
  })
})

describe("the operations of a change", () => {
  const before: Policy = {
    routes: [
      {
        match: ["agent_id = a"],
        after: "1h",
        flapping: { openings: 3, within: "1h", after: "2h" },
        steps: [{ to: ["a"] }, { after: "15m", to: ["b"] }],
      },
    ],
  }
  const change = (value: object) =>
    operationsOf(before, ["routes", "-"], value, entryAt(before, ["routes", "0"]))
  const route = before.routes?.[0] ?? {}

  it("name what changed alone", () => {
    assert.deepStrictEqual(change(route), [])
    const { after: _, ...immediate } = route
    assert.deepStrictEqual(change({ ...immediate, remind: "4h" }), [
      { op: "remove", path: "/routes/0/after" },
      { op: "add", path: "/routes/0/remind", value: "4h" },
    ])
    assert.deepStrictEqual(change({ ...route, steps: [{ to: ["a"] }, { after: "20m", to: ["b"] }] }), [
      { op: "replace", path: "/routes/0/steps/1/after", value: "20m" },
    ])
    assert.deepStrictEqual(change({ ...route, match: ["agent_id = b"], steps: [{ to: ["a"] }] }), [
      { op: "replace", path: "/routes/0/match", value: ["agent_id = b"] },
      { op: "replace", path: "/routes/0/steps", value: [{ to: ["a"] }] },
    ])
  })

  it("add an entry below the others, or the first", () => {
    const value = { to: ["a"] }
    assert.deepStrictEqual(operationsOf(before, ["routes", "-"], value), [
      { op: "add", path: "/routes/-", value },
    ])
    assert.deepStrictEqual(operationsOf({}, ["routes", "-"], value), [
      { op: "add", path: "/routes", value: [value] },
    ])
    assert.deepStrictEqual(operationsOf({}, ["rotas", "a/b"], value), [
      { op: "add", path: "/rotas", value: { "a/b": value } },
    ])
    assert.deepStrictEqual(operationsOf({ rotas: {} }, ["rotas", "a/b"], value), [
      { op: "add", path: "/rotas/a~1b", value },
    ])
  })
})
