import process from "node:process"
import { openPolicyText, readPolicyText } from "../../src/policy/readPolicyText.ts"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Result } from "effect"

const read = (text: string) =>
  readPolicyText(text, { notifiers: ["webhook", "messenger"], keepsNotifiers: false })

/** The issues of a text, as `LINE PATH MESSAGE`. */
const issuesOf = (text: string): ReadonlyArray<string> =>
  Result.match(read(text), {
    onSuccess: () => [],
    onFailure: (issues) => issues.map(({ line, path, message }) => `${line} ${path} ${message}`),
  })

const MIB = 1_048_576
/** The first lines of a text that is repeated up to 1 MiB. */
const fill = (unit: string): string => unit.repeat(Math.floor(MIB / unit.length))

describe("the text of a policy", () => {
  it("is YAML or JSON", () => {
    const yaml = read("routes:\n  - { match: [ 'label:team = db' ], after: 1m, to: [ webhook ] }\n")
    const json = read('{ "routes": [{ "match": ["label:team = db"], "after": "1m", "to": ["webhook"] }] }')
    const { routes } = Result.getOrThrow(yaml)
    assert.deepStrictEqual(routes, Result.getOrThrow(json).routes)
    assert.deepStrictEqual(routes?.[0]?.after, Duration.minutes(1))
  })

  it("may state nothing", () => {
    assert.deepStrictEqual(Result.getOrThrow(read("{}")), {})
  })

  it("names every problem by line and path", () => {
    const text = [
      "receivers:",
      "  pager: { kind: webhook, url_file: /run/secrets/pager }",
      "  webhook:",
      "    kind: messenger",
      "    url_file: /run/secrets/chat",
      "routes:",
      "  - to: [pager, nobody]",
      "    colour: red",
      "    after: soon",
      "windows:",
      "  - name: backup",
      "    cron: 0 0 30 2 *",
      "    tz: Europe/Atlantis",
      "    for: 4h",
      "    match: []",
    ].join("\n")
    assert.deepStrictEqual(issuesOf(text), [
      "2 receivers.pager must have secret_file or secret_env",
      "4 receivers.webhook.kind must be webhook: a receiver named like a kind is of that kind",
      "7 routes[0].to[1] names no receiver; the receivers are pager, webhook",
      "8 routes[0].colour is not a known field",
      "9 routes[0].after must be a duration such as 90s, 8h or 7d, from 0s to 7d",
      "12 windows[0].cron never fires: no date matches it",
      "13 windows[0].tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
      "15 windows[0].match must hold at least one matcher that names something: = with a value, or a glob with a literal character, on a field other than severity",
    ])
  })

  it.each([
    ["an unclosed list", "routes: [", "1  is not valid YAML"],
    ["tabs for indentation", "routes:\n\t- {}", "2  is not valid YAML"],
    ["a tag", "routes: !secret x", "1  is not valid YAML: Unresolved tag: !secret"],
    ["two documents", "routes: []\n---\nroutes: []", "2  must be one document"],
    ["an anchor", "routes:\n  - &first {}", "2  has an anchor (&): remove it"],
    ["an alias", "routes:\n  - &first {}\n  - *first", "2  has an anchor"],
    ["a duplicate key", "routes: []\nwindows: []\nroutes: []", "3  has the key routes twice"],
    ["a key that is no text", "? [a]\n: b", "1  has a key that is not a text"],
    ["a list in place of the document", "- a", "1  must be an object"],
    ["a scalar in place of the document", "a", "1  must be an object"],
    ["more than 1 MiB", fill("#") + "#", "1  is larger than 1 MiB"],
    ["fewer characters than 1 MiB has bytes", `#${"é".repeat(MIB / 2)}`, "1  is larger than 1 MiB"],
    ["brackets without end", fill("["), "1  has too many values"],
    ["deep nesting", "[".repeat(20_000) + "]".repeat(20_000), "1  is nested too deeply"],
    ["nesting that is not so deep", `routes: ${"[".repeat(40)}${"]".repeat(40)}`, "1  is nested too deeply"],
    ["keys without end", fill("a: b\n"), "1  has too many values"],
    ["nothing", "", "1  is empty"],
    ["only a mark", "---\n", "1  is empty"],
    ["only comments", "# routes: []\n", "1  is empty"],
    ["a tag of YAML", "routes: !!seq []", "1  has a tag (!)"],
    ["lines without end", fill("\n"), "1  has too many values"],
    ["another version of YAML", "%YAML 1.1\n---\nroutes: []", "1  must be YAML 1.2"],
    ["a prototype", "__proto__: { routes: [] }", "1 __proto__ is not a known field"],
  ])("is refused with %s", (_, text, expected) => {
    const [first] = issuesOf(text)
    assert.isTrue(first?.startsWith(expected), first)
  })

  it("that defines a receiver of a module is refused, and followed where it is stored", () => {
    const text =
      "receivers:\n  chat: { kind: debug }\n  lamp: { kind: debug }\nroutes: [ { to: [lamp, pager] } ]"
    const given = { notifiers: ["debug"], keepsNotifiers: false, extensions: ["lamp"], elsewhere: ["pager"] }
    const { accept, followed } = Result.getOrThrow(openPolicyText(text, given))
    const message = "is the name of a notifier of a module or a program: give the receiver another"
    const issues = [{ path: "receivers.lamp", line: 3, message }]
    assert.deepStrictEqual(accept([]), Result.fail(issues))
    assert.deepStrictEqual(followed()?.outdated, issues)
  })

  it("of 1 MiB is read", () => {
    assert.deepStrictEqual(issuesOf("routes: []\n" + `# ${"a long comment ".repeat(60)}\n`.repeat(1_100)), [])
  })

  // Comparing each part with each problem would take minutes.
  it("with problems in each of many parts is refused with all of them, in time", () => {
    const receivers = Array.from({ length: 5_000 }, (_, n) => `  r${n}: {}\n`).join("")
    const before = process.threadCpuUsage()
    const ofList = issuesOf("windows:\n" + "- {soon: 1}\n".repeat(6_000))
    const ofMap = issuesOf(`receivers:\n${receivers}`)
    assert.isBelow(process.threadCpuUsage(before).user, 4_000_000)
    assert.strictEqual(ofList.length, 1 + 6_000 * 4)
    assert.strictEqual(ofList.at(-1), "6001 windows[5999].match is missing")
    assert.strictEqual(ofMap.length, 5_000)
    assert.match(String(ofMap.at(-1)), /^5001 receivers\.r4999 must be a receiver/)
  })

  it("repeats no value in its issues", () => {
    const secret = "hunter2-hunter2"
    const issues = issuesOf(`receivers:\n  pager: { kind: webhook, url: ${secret}, secret: [${secret}] }\n`)
    assert.isNotEmpty(issues)
    assert.notInclude(issues.join("\n"), secret)
  })
})
