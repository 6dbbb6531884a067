import { isDeepStrictEqual } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result } from "effect"
import * as fc from "fast-check"
import { parse } from "yaml"
import { openEditedText } from "../../../src/features/receivers/editReceiver.ts"

const GIVEN = { notifiers: ["debug"], keepsNotifiers: false }

/** The text with one receiver defined, or without it. */
const edited = (text: string, name: string, receiver?: unknown): string =>
  Result.getOrThrow(openEditedText(text, { name, receiver }, GIVEN)).text

const NEW = { kind: "messenger", type: "ntfy", url_file: "ntfy" }

describe("a receiver that is changed in the text of a policy", () => {
  it.each([
    ["nothing", "{}", "receivers:\n  chat: { kind: messenger, type: ntfy, url_file: ntfy }"],
    [
      "the first receiver",
      "# ours\nroutes: [] # none\n",
      "# ours\nroutes: [] # none\nreceivers:\n  chat: { kind: messenger, type: ntfy, url_file: ntfy }\n",
    ],
    [
      "another one, in lines",
      "receivers:\n    log: # that one\n        kind: debug # the log\n# routes\nroutes: []",
      "receivers:\n    log: # that one\n        kind: debug # the log\n    chat: { kind: messenger, type: ntfy, url_file: ntfy }\n# routes\nroutes: []",
    ],
    [
      "in place of one",
      "receivers:\n  chat:\n    kind: webhook # old\n    url_file: a # older\n  # after\n  log: { kind: debug }\n",
      "receivers:\n  chat: { kind: messenger, type: ntfy, url_file: ntfy } # older\n  # after\n  log: { kind: debug }\n",
    ],
    [
      "in place of one with a comment behind its name",
      "receivers:\n  chat: # the team\n    kind: debug\n",
      "receivers:\n  chat: # the team\n    { kind: messenger, type: ntfy, url_file: ntfy }\n",
    ],
    [
      "in braces",
      "receivers: { log: { kind: debug } } # all\r\n",
      "receivers: { log: { kind: debug }, chat: { kind: messenger, type: ntfy, url_file: ntfy } } # all\r\n",
    ],
    [
      "in JSON",
      '{\n  "receivers": {\n    "log": { "kind": "debug" }\n  }\n}\n',
      '{\n  "receivers": {\n    "log": { "kind": "debug" },\n    "chat": {"kind":"messenger","type":"ntfy","url_file":"ntfy"}\n  }\n}\n',
    ],
    [
      "in JSON without receivers",
      '{"routes":[]}',
      `{"routes":[], "receivers": {"chat":${JSON.stringify(NEW)}}}`,
    ],
    [
      "at the end of a text without a last line end",
      "\uFEFFreceivers:\r\n  log: { kind: debug }",
      "\uFEFFreceivers:\r\n  log: { kind: debug }\r\n  chat: { kind: messenger, type: ntfy, url_file: ntfy }",
    ],
  ])("is defined: %s", (_, before, after) => {
    assert.strictEqual(edited(before, "chat", NEW), after)
    assert.strictEqual(edited(after, "chat", NEW), after)
  })

  it.each([
    [
      "a line",
      "receivers:\n  # log\n  log: { kind: debug }\n  # chat\n  chat: { kind: debug } # gone\nroutes: []\n",
      "receivers:\n  # log\n  log: { kind: debug }\n  # chat\nroutes: []\n",
    ],
    [
      "the first in braces",
      "receivers: { chat: { kind: debug }, log: { kind: debug } }",
      "receivers: { log: { kind: debug } }",
    ],
    [
      "the last of JSON",
      '{\n  "receivers": {\n    "log": { "kind": "debug" },\n    "chat": { "kind": "debug" }\n  }\n}',
      '{\n  "receivers": {\n    "log": { "kind": "debug" }\n  }\n}',
    ],
    [
      "the only one",
      "# a\nreceivers: # b\n  # c\n  chat:\n    # d\n    kind: debug # e\n",
      "# a\n# b\n# c\n{}\n",
    ],
    [
      "the only one beside routes",
      "receivers: { # a\n  chat: { kind: debug }, # b\n}\nroutes: []\n",
      "# a\n# b\nroutes: []\n",
    ],
    ["the only one of JSON", '{"receivers":{"chat":{"kind":"debug"}},"routes":[]}', '{"routes":[]}'],
    ["none", "{} # nothing\n", "{} # nothing\n"],
  ])("is removed: %s", (_, before, after) => {
    assert.strictEqual(edited(before, "chat"), after)
  })

  it("is refused with the problems of the policy that this makes", () => {
    const text = "receivers:\n  chat: { kind: debug }\n  log: { kind: debug }\nroutes:\n  - to: [chat]\n"
    const issuesOf = (receiver?: unknown) =>
      Result.flip(
        Result.flatMap(openEditedText(text, { name: "chat", receiver }, GIVEN), ({ accept }) => accept([])),
      )
    assert.deepStrictEqual(
      issuesOf(),
      Result.succeed([
        { path: "routes[0].to[0]", line: 4, message: "names no receiver; the receivers are log" },
      ]),
    )
    assert.deepStrictEqual(
      issuesOf({ kind: "webhook", url_file: "a", colour: "red" }),
      Result.succeed([{ path: "receivers.chat.colour", line: 2, message: "is not a known field" }]),
    )
    assert.isTrue(Result.isFailure(openEditedText("receivers: [", { name: "chat", receiver: NEW }, GIVEN)))
    // A place at which no line can be removed.
    const odd = "? receivers\n: chat: { kind: debug }\n  log: { kind: debug }\n"
    const { failure } = Object(openEditedText(odd, { name: "chat", receiver: undefined }, GIVEN))
    assert.isTrue(failure === undefined || failure[0].message.startsWith("cannot be changed"))
  })

  it("leaves all text outside of its entry as it is", () => {
    fc.assert(
      fc.property(written, change, (policy, { name, receiver }) => {
        const { parts, text } = textOf(policy, name)
        const after = edited(text, name, receiver)
        const expected = parse(text)
        const { [name]: former, ...others } = { ...expected.receivers }
        const receivers = receiver === undefined ? others : { ...others, [name]: receiver }
        delete expected.receivers
        const isEmpty = Object.keys(receivers).length === 0 && former !== undefined
        assert.deepStrictEqual(parse(after), isEmpty ? expected : { ...expected, receivers })
        assert.deepStrictEqual(after.match(OUTSIDE), text.match(OUTSIDE))
        assert.strictEqual(
          after.replaceAll("\r\n", "").includes("\n"),
          policy.eol === "\n" && after.includes("\n"),
        )
        if (isDeepStrictEqual(former, receiver)) assert.strictEqual(after, text)
        else if (former === undefined) assert.isTrue(isInserted(text, after) || policy.entries.length === 0)
        else if (receiver !== undefined)
          assert.isTrue(after.startsWith(parts[0].trimEnd()) && after.endsWith(parts[1]))
        else if (policy.entries.length > 1)
          assert.strictEqual(
            bare(after),
            bare(parts[0].slice(0, -JSON.stringify(name).length - 1) + parts[1]),
          )
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it("leaves JSON as JSON", () => {
    fc.assert(
      fc.property(written, change, fc.constantFrom(0, 2), ({ entries }, { name, receiver }, space) => {
        const given = {
          routes: [],
          receivers: Object.fromEntries(entries.map(([each, { value }]) => [each, value])),
        }
        const { receivers, ...others } = JSON.parse(
          edited(JSON.stringify(given, undefined, space), name, receiver),
        )
        const expected: Record<string, unknown> = { ...given.receivers, [name]: receiver }
        if (receiver === undefined) delete expected[name]
        assert.deepStrictEqual(receivers ?? {}, expected)
        assert.deepStrictEqual(others, { routes: [] })
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})

const NAMES = ["ann", "bob", "true", "night"] as const
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
]
const odd = fc.constantFrom(...TEXTS)
const value = fc.oneof(
  fc.constant({ kind: "debug" }),
  fc.record(
    { kind: fc.constant("messenger"), topic: odd, to: fc.array(odd, { minLength: 1, maxLength: 3 }) },
    { noNullPrototype: true },
  ),
)
const change = fc.record({ name: fc.constantFrom(...NAMES), receiver: fc.option(value, { nil: undefined }) })
const STYLES = ["lines", "braces", "lines of braces"] as const
const entry = fc.tuple(
  fc.constantFrom(...NAMES),
  fc.record({ value, style: fc.constantFrom(...STYLES), isNoted: fc.boolean() }),
)
const written = fc.record({
  entries: fc.uniqueArray(entry, { selector: ([name]) => name, maxLength: 3 }),
  inBraces: fc.boolean(),
  isFirst: fc.boolean(),
  eol: fc.constantFrom("\n", "\r\n"),
  isEnded: fc.boolean(),
})
type Written = typeof written extends fc.Arbitrary<infer Policy> ? Policy : never

const OUTSIDE = /# outside \d+/gu

const isInserted = (text: string, after: string): boolean => {
  let same = 0
  while (same < text.length && text[same] === after[same]) same += 1
  return after.endsWith(text.slice(same))
}

/** Without space and commas, and comments that go with the line of an entry. */
const bare = (text: string): string => text.replaceAll(/# beside|[\s,]/gu, "")

/** The text of a policy, and what of it stands before and after the value of one receiver. */
const textOf = ({ entries, eol, inBraces, isEnded, isFirst }: Written, name: string) => {
  let notes = 0
  const note = () => `# outside ${(notes += 1)}`
  const MARK = "\u0000"
  const valueOf = (given: object, style: (typeof STYLES)[number]): string => {
    const fields = Object.entries(given).map(([key, one]) => `${key}: ${JSON.stringify(one)}`)
    if (style === "lines" && !inBraces)
      return ["", ...fields].join(`\n${"    "}`).replace("\n", " # inside\n")
    return style === "braces"
      ? ` { ${fields.join(", ")} }`
      : ` { # inside\n      ${fields.join(",\n      ")}\n    }`
  }
  const lines = entries.map(([each, { isNoted, style, value: given }], n) => {
    const [marked, key] = [each === name ? MARK : "", JSON.stringify(each)]
    const end = `${inBraces && n < entries.length - 1 ? "," : ""}${isNoted ? " # beside" : ""}`
    return `${isNoted ? `  ${note()}\n` : ""}  ${key}:${marked}${valueOf(given, style)}${marked}${end}`
  })
  const list =
    inBraces || entries.length === 0
      ? [`receivers: { ${note()}`, ...lines, "}"]
      : [`receivers: ${note()}`, ...lines]
  const others = [note(), "routes: []", "windows: # none", "  []"]
  const all = (isFirst ? [...list, ...others] : [...others, ...list]).join("\n") + (isEnded ? "\n" : "")
  const [head = "", , tail = ""] = all.replaceAll("\n", eol).split(MARK)
  return { text: all.replaceAll("\n", eol).replaceAll(MARK, ""), parts: [head, tail] as const }
}
