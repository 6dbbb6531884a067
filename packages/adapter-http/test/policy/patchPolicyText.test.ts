import { isDeepStrictEqual } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { PatchOperation } from "@tocsin/contract/policy/PolicyPatch"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result } from "effect"
import * as fc from "fast-check"
import { isMap, isNode, isScalar, isSeq, parse, parseDocument } from "yaml"
import { patchPolicyText } from "../../src/policy/patchPolicyText.ts"

const patched = (text: string, ...patch: ReadonlyArray<PatchOperation>) =>
  Result.getOrThrow(patchPolicyText(text, patch))

const refusal = (text: string, ...patch: ReadonlyArray<PatchOperation>) =>
  Result.getOrThrow(Result.flip(patchPolicyText(text, patch)))

const ROUTES =
  "# ours\nroutes:\n  # first\n  - to: [log] # all\n  # second\n  - match: [severity = critical]\n    to: [chat]\n\n# end\n"

describe("edits of a policy's text", () => {
  it.each<readonly [string, string, PatchOperation, string]>([
    [
      "a value in its line",
      ROUTES,
      { op: "replace", path: "/routes/1/to", value: ["chat", "log"] },
      ROUTES.replace("[chat]", "[ chat, log ]"),
    ],
    [
      "an item at the end",
      ROUTES,
      { op: "add", path: "/routes/-", value: { to: ["x"] } },
      ROUTES.replace("    to: [chat]\n", "    to: [chat]\n  - { to: [ x ] }\n"),
    ],
    [
      "an item between two",
      ROUTES,
      { op: "add", path: "/routes/1", value: { to: ["x"] } },
      ROUTES.replace("# all\n", "# all\n  - { to: [ x ] }\n"),
    ],
    [
      "the first item",
      ROUTES,
      { op: "add", path: "/routes/0", value: { to: ["x"] } },
      ROUTES.replace("  - to: [log]", "  - { to: [ x ] }\n  - to: [log]"),
    ],
    [
      "a key of an item",
      ROUTES,
      { op: "add", path: "/routes/0/after", value: "5m" },
      ROUTES.replace("# all\n", "# all\n    after: 5m\n"),
    ],
    [
      "a key of the whole",
      ROUTES,
      { op: "add", path: "/tz", value: "Europe/Berlin" },
      ROUTES.replace("    to: [chat]\n", "    to: [chat]\ntz: Europe/Berlin\n"),
    ],
    [
      "an item that goes with its comment",
      ROUTES,
      { op: "remove", path: "/routes/0" },
      ROUTES.replace("  - to: [log] # all\n", ""),
    ],
    [
      "the first key of an item",
      ROUTES,
      { op: "remove", path: "/routes/1/match" },
      ROUTES.replace("- match: [severity = critical]\n    to", "- to"),
    ],
    [
      "the only key of an item",
      ROUTES,
      { op: "remove", path: "/routes/0/to" },
      ROUTES.replace("to: [log]", "{}"),
    ],
    ["the only key of all", ROUTES, { op: "remove", path: "/routes" }, "# ours\n{}\n\n# end\n"],
    [
      "text in flow style",
      "receivers: { log: { kind: debug } }",
      { op: "add", path: "/receivers/chat", value: { kind: "a, b" } },
      'receivers: { log: { kind: debug }, chat: { kind: "a, b" } }',
    ],
    [
      "JSON, in its lines",
      '{\r\n  "routes": [\r\n    { "to": ["log"] }\r\n  ]\r\n}',
      { op: "add", path: "/routes/0", value: { to: ["a"] } },
      '{\r\n  "routes": [\r\n    {"to":["a"]},\r\n    { "to": ["log"] }\r\n  ]\r\n}',
    ],
    [
      "a last line without an end",
      "tz: UTC\r\nroutes: []",
      { op: "add", path: "/windows", value: [] },
      "tz: UTC\r\nroutes: []\r\nwindows: []",
    ],
    ["the last line without an end", "tz: UTC\r\nroutes: []", { op: "remove", path: "/routes" }, "tz: UTC"],
    ["nothing", "tz:  UTC # ours", { op: "replace", path: "/tz", value: "UTC" }, "tz:  UTC # ours"],
    ["an empty text", "", { op: "add", path: "/routes", value: [] }, "routes: []\n"],
    ["a name with a slash", "a/b: 1\n", { op: "replace", path: "/a~1b", value: 2 }, "a/b: 2\n"],
    [
      "a tab",
      "tz:\tUTC\t# ours\n",
      { op: "replace", path: "/tz", value: "Asia/Tokyo" },
      "tz:\tAsia/Tokyo\t# ours\n",
    ],
    [
      "a text of lines",
      "a:\n  b: |\n    one\n    two\n  c: 1\n",
      { op: "replace", path: "/a/b", value: "three" },
      "a:\n  b: three\n  c: 1\n",
    ],
    [
      "a value that refers to another",
      "a: &who [ x ] # ours\nb: *who\n",
      { op: "replace", path: "/b", value: ["y"] },
      "a: &who [ x ] # ours\nb: [ y ]\n",
    ],
    [
      "an item behind one that refers to another",
      "- &first { to: [ x ] }\n- *first\n",
      { op: "add", path: "/-", value: 1 },
      "- &first { to: [ x ] }\n- *first\n- 1\n",
    ],
  ])("change %s", (_, before, operation, after) => {
    assert.strictEqual(patched(before, operation), after)
  })

  it("are made together, and a test refuses them", () => {
    const add: PatchOperation = { op: "add", path: "/routes/-", value: { to: ["x"] } }
    assert.strictEqual(
      patched("routes: []\n", { op: "test", path: "/routes", value: [] }, add, {
        op: "remove",
        path: "/routes/0",
      }),
      "routes: []\n",
    )
    assert.isTrue(refusal("routes: []\n", add, { op: "test", path: "/routes/0/to/0", value: "y" }).isConflict)
  })

  it.each([
    "routes",
    "/routes/1",
    "/routes/00",
    "/routes/-/to",
    "/rota~2",
    "/routes/0/to/x",
    "/nothing/here",
    "/__proto__",
  ])("refuse %s, which leads to nothing", (path) => {
    for (const op of ["replace", "remove"] as const)
      assert.isFalse(refusal("routes: [{ to: [a] }]\n", { op, path, value: 1 }).isConflict)
  })

  it.each([
    ["removes what others refer to", { op: "remove", path: "/a" }],
    ["changes what others refer to", { op: "replace", path: "/a/0", value: "y" }],
    ["is of a place that another one has", { op: "replace", path: "/b/0", value: "y" }],
  ] as const)("refuse one that %s", (_, operation) => {
    assert.isFalse(refusal("a: &who [ x ]\nb: *who\n", operation).isConflict)
    assert.isFalse(refusal("a: 1\nb: *nobody\n", operation).isConflict)
  })

  it("refuse to add what is no place", () => {
    for (const path of ["/__proto__", "/routes/2", "/routes/__proto__", "/routes/0/to/length", "/tz/x"])
      assert.isFalse(refusal("tz: UTC\nroutes: [{ to: [a] }]\n", { op: "add", path, value: 1 }).isConflict)
  })

  it("leave all text outside of their entry as it is", () => {
    fc.assert(
      fc.property(
        written,
        fc.nat(),
        fc.constantFrom("add", "replace", "remove"),
        value,
        (policy, seed, op, put) => {
          const text = textOf(policy)
          const paths = pathsIn(parse(text) ?? {})
          const path = paths[seed % paths.length] ?? ""
          if (path === "") return
          const result = patchPolicyText(text, [{ op, path, value: put }])
          // A value to which others refer may have no text of its own to change.
          if (/(?:^|[\s,[{])[&*]\w/u.test(text) && Result.isFailure(result)) return
          assert.isTrue(Result.isSuccess(result), `${text}\n${op} ${path}`)
          const after = Result.getOrThrow(result)
          // Comments that are not within the entry stay.
          const [from, to] = entryOf(text, namesOf(path))
          const isInserted = op === "add" && /^\d+$/u.test(path.slice(path.lastIndexOf("/") + 1))
          const outside = Array.from(text.matchAll(/# own \d+/gu)).filter(
            ({ index }) => isInserted || index < from || index >= to,
          )
          for (const [comment] of outside) assert.include(after, comment)
          if (op === "replace") {
            assert.isTrue(after.startsWith(text.slice(0, from).trimEnd()), `${text}\n${path}\n${after}`)
            assert.isTrue(after.endsWith(text.slice(to)), `${text}\n${path}\n${after}`)
          }
          if (policy.eol === "\r\n") assert.notMatch(after, /[^\r]\n/u)
          assert.strictEqual(after.endsWith("\n"), text.endsWith("\n"))
          if (isDeepStrictEqual(parse(text), parse(after))) assert.strictEqual(after, text)
        },
      ),
      { numRuns: propertyRuns(600) },
    )
  })
})

const TEXTS = [
  "plain",
  "+49 1",
  "a: b # c",
  "{x}",
  "- y",
  "yes",
  '"',
  "'",
  "é, \u2028",
  "null",
  "1e3",
  "a\nb",
  " c ",
  "a, b]",
]
const leaf = fc.oneof(fc.constantFrom(...TEXTS), fc.integer(), fc.boolean(), fc.constant(null))
const value = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("to", "a/b", "x y", "~"), leaf, { maxKeys: 3, noNullPrototype: true }),
)

type Node = string | number | boolean | null | ReadonlyArray<Node> | { readonly [name: string]: Node }
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("node"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("to", "steps", "a/b", "x y"), tie("node"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}))
const written = fc.record({
  document: fc.dictionary(fc.constantFrom("routes", "windows", "tz", "pages"), node, {
    minKeys: 1,
    maxKeys: 4,
    noNullPrototype: true,
  }),
  style: fc.constantFrom("block", "flow", "json", "json in lines"),
  eol: fc.constantFrom("\n", "\r\n"),
  isEnded: fc.boolean(),
  isNoted: fc.boolean(),
  isAnchored: fc.boolean(),
  tab: fc.constantFrom(" ", "\t", "  "),
})

const flow = (one: Node): string => JSON.stringify(one)

/** A document in lines, with comments between and beside them. */
const block = (one: Node, indent: string, note: () => string, tab: string, anchor: () => string): string => {
  if (typeof one !== "object" || one === null) return `${tab}${anchor() || flow(one)}\n`
  const entries = Array.isArray(one) ? one.map((each: Node) => ["", each] as const) : Object.entries(one)
  if (entries.length === 0) return `${tab}${flow(one)}\n`
  const lines = entries.map(([name, each], n) => {
    const head = Array.isArray(one) ? "-" : `${flow(name)}:`
    const isOnLine = n % 3 === 2
    const body = isOnLine
      ? `${tab}${anchor() || flow(each)}\n`
      : block(each, `${indent}  `, note, tab, anchor)
    const noted = body.startsWith("\n") || !body.endsWith("\n") ? body : body.replace(/\n$/u, "\n")
    return `${note()}${indent}${head}${noted}`
  })
  return `\n${lines.join("")}`
}

const textOf = ({
  document,
  eol,
  isAnchored,
  isEnded,
  isNoted,
  style,
  tab,
}: typeof written extends fc.Arbitrary<infer One> ? One : never) => {
  let notes = 0
  const note = () => (isNoted ? `# own ${(notes += 1)}\n` : "")
  let anchors = 0
  // By turns a value with an anchor, one that refers to it, and one of its own.
  const anchor = () => {
    anchors += 1
    return !isAnchored || tab === "\t" || anchors % 3 === 0
      ? ""
      : anchors % 3 === 1
        ? `&a${anchors} {x: 1}`
        : `*a${anchors - 1}`
  }
  const text =
    style === "block"
      ? block(document, "", note, tab, anchor).slice(1)
      : style === "flow"
        ? `{ ${Object.entries(document)
            .map(([name, one]) => `${flow(name)}: ${flow(one)}`)
            .join(", ")} }\n`
        : `${JSON.stringify(document, undefined, style === "json" ? 0 : 2)}\n`
  return (isEnded ? text : text.replace(/\n$/u, "")).replaceAll("\n", eol)
}

const namesOf = (path: string) =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((name) => (/^\d+$/u.test(name) ? Number(name) : name))

/** Where an entry begins, with its key, and where its value ends. */
const entryOf = (text: string, names: ReadonlyArray<string | number>): readonly [number, number] => {
  const document = parseDocument(text)
  const [node, around] = [document.getIn(names, true), document.getIn(names.slice(0, -1), true)]
  const pair = isMap(around)
    ? around.items.find(({ key }) => isScalar(key) && key.value === String(names.at(-1)))
    : undefined
  const key = isScalar(pair?.key) ? pair.key.range?.[0] : undefined
  const [start, end] = (isNode(node) && node.range) || [0, 0]
  // The comments behind the dash of an item are inside.
  const dash = isSeq(around) && around.flow !== true ? text.lastIndexOf("-", start - 1) : start
  return [key ?? dash, end]
}

/** Pointers to all that a document has, and to places of new entries. */
const pathsIn = (one: unknown, path = ""): ReadonlyArray<string> => {
  if (typeof one !== "object" || one === null) return []
  const names = Object.keys(one).map((name) => `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
  return [...names, ...Object.values(one).flatMap((each, n) => pathsIn(each, names[n]))]
}
