import { readFileSync } from "node:fs"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type ConditionValue, valueHolds } from "../../src/watches/ConditionValue.ts"
import { type Conditions, type Expectation, failedConditions } from "../../src/watches/conditions.ts"
import { optionProblems } from "../../src/watches/optionProblems.ts"

describe("a VALUE", () => {
  /** A VALUE as it is written, the values that it holds for, and those that it does not. */
  const table: ReadonlyArray<readonly [ConditionValue, ReadonlyArray<unknown>, ReadonlyArray<unknown>]> = [
    ["exists", ["", null, 0, [], {}], [undefined]],
    ["absent", [undefined], [null, "", 0]],
    [5, [5, 5.0], ["5", 6, undefined]],
    [true, [true], ["true", 1]],
    [null, [null], [undefined, "null", 0]],
    ["< 5", [4, "4.9", -1], [5, "5", "x", "", null, [1], undefined]],
    ["<= 5", [5, "5"], [5.1]],
    ["> -1.5e1", [0, "-14"], [-15]],
    [">= 5", [5], [4]],
    ["~ a*c?", ["abcd", "acx"], ["ac", "xacd", 5, undefined]],
    ["~ *", ["", "x"], [5, null]],
    ["= exists", ["exists"], [null, "x"]],
    ["= ", [""], ["x"]],
    ["!= 5", ["6", 6, null, [], {}], ["5", 5, undefined]],
    ["!= true", ["x", false], [true, "true"]],
    ["!= [1]", [[2]], [[1], undefined]],
    ["ok", ["ok"], ["Ok", "ok ", undefined]],
    ["<html>", ["<html>"], ["x"]],
    ["", [""], [undefined, "x"]],
    // Without a blank, or a number, they are texts.
    ["<5", ["<5"], [4, "4"]],
    ["< x", ["< x"], ["a", 1]],
    ["=", ["="], [""]],
    ["~", ["~"], ["", "x"]],
    ["!=", ["!="], ["x", undefined]],
  ]
  it.each(table)("%j", (written, good, bad) => {
    for (const found of good) assert.isTrue(valueHolds(written, found), JSON.stringify(found))
    for (const found of bad) assert.isFalse(valueHolds(written, found), JSON.stringify(found))
  })

  it("of a glob takes linear time", () => {
    const before = process.threadCpuUsage()
    assert.isFalse(valueHolds(`~ ${"*a".repeat(400)}*b`, "a".repeat(1_000_000)))
    assert.isFalse(valueHolds(`~ ${"*a?".repeat(20)}b`, "a".repeat(1_000_000)))
    assert.isBelow(process.threadCpuUsage(before).user, 5_000_000)
  })
})

const failed = (expect: Expectation, answer: object = {}, secret: ReadonlyArray<string> = []) =>
  failedConditions(
    expect,
    { status: 200, seconds: 3.1, headers: new Map(), body: "", isWhole: true, where: "", ...answer },
    { shownUrl: "http://a/", secret },
  ).map(({ status, words }) => `${status} ${words}`)

/** Rows of the table of the documentation: a key of `expect`, and what it says where it fails. */
const documented = readFileSync(new URL("../../../../docs/watches.md", import.meta.url), "utf8")
  .split("## Conditions")[1]
  ?.split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))

const FAILING: Readonly<Record<keyof Required<Conditions>, readonly [Conditions, object]>> = {
  status: [{ status: [200, "300-399"] }, { status: 503 }],
  header: [{ header: { "x-state": "ok" } }, { headers: new Map([["x-state", "ill"]]) }],
  text: [{ text: "well" }, { body: "ill" }],
  not_text: [{ not_text: "ill" }, { body: "ill" }],
  json: [{ json: { "/queue": "< 5" } }, { body: '{"queue":7}' }],
}

describe("conditions", () => {
  it.each(Object.entries(FAILING))("say of %s what the documentation says", (key, [expect, answer]) => {
    const [, , , says = "no such row"] = documented?.find(([, name = ""]) => name.split(":")[0] === key) ?? []
    for (const given of [expect, { warning: expect }])
      assert.isTrue(failed(given, answer).join().endsWith(says), says)
  })

  const json = (value: unknown) => ({ body: JSON.stringify(value) })

  it.each<readonly [string, Expectation, object, ReadonlyArray<string>]>([
    ["status", { status: [204, "300-399"] }, { status: 200 }, ["critical 200 http://a/ in 3.100 s"]],
    ["status in a range", { status: [204, "300-399"] }, { status: 302 }, []],
    ["text", { text: "well" }, { body: "ill" }, ['critical http://a/ lacks "well"']],
    ["not_text", { not_text: "ill" }, { body: "ill" }, ['critical http://a/ has "ill"']],
    [
      "header",
      { header: { "X-A": "b", "x-n": 5 } },
      {
        headers: new Map([
          ["x-a", "a, c"],
          ["x-n", "5"],
        ]),
      },
      ['critical http://a/: header X-A is "a, c" and must be "b"'],
    ],
    [
      "json",
      { json: { "/a/0/b~1c~0": "< 5" } },
      json({ a: [{ "b/c~": 7 }] }),
      ["critical http://a/: json /a/0/b~1c~0 is 7 and must be < 5"],
    ],
    [
      "what is absent",
      { json: { "/a": 1 } },
      json({}),
      ["critical http://a/: json /a is absent and must be 1"],
    ],
    [
      "a list",
      { json: { "/a": "x" } },
      json({ a: ["private"] }),
      ['critical http://a/: json /a is a list and must be "x"'],
    ],
    [
      "an object",
      { json: { "": "x" } },
      json({ a: "private" }),
      ['critical http://a/: json "" is an object and must be "x"'],
    ],
    [
      "members that no document has",
      { json: { "/length": "absent", "/toString": "absent", "/01": "absent" } },
      json([1, 2]),
      [],
    ],
    [
      "no JSON",
      { json: { "/a": "absent" } },
      { body: "<p>" },
      ["critical http://a/: json /a cannot be read: the page is no JSON of at most 1 MiB"],
    ],
    [
      "a part of a page",
      { json: { "/a": "absent" } },
      { body: "{}", isWhole: false },
      ["critical http://a/: json /a cannot be read: the page is no JSON of at most 1 MiB"],
    ],
    [
      "all, critical ones first, in order",
      { warning: { status: [201], text: "x" }, json: { "/a": 1 }, header: { a: "exists" } },
      json({ a: 2 }),
      [
        "critical http://a/: header a is absent and must be there",
        "critical http://a/: json /a is 2 and must be 1",
        "warning 200 http://a/ in 3.100 s",
        'warning http://a/ lacks "x"',
      ],
    ],
  ])("judge %s", (_, expect, answer, words) => {
    assert.deepStrictEqual(failed(expect, answer), words)
  })

  it("show no value whose name is like a secret's, and none of secret", () => {
    const document = json({ data: { apiToken: "s3cret", note: "s3cret" } })
    const headers = new Map([
      ["set-cookie", "s3cret"],
      ["x-count", "s3cret"],
    ])
    const expect = {
      json: { "/data/apiToken": "hidden", "/data/note": "< 5" },
      header: { "Set-Cookie": "hidden", "x-count": 5 },
    }
    const words = failed(expect, { ...document, headers }, ["/data/note", "X-Count"])
    assert.strictEqual(words.length, 4)
    for (const line of words) assert.match(line, /is not shown, and is not as wanted$/)
  })

  it("show one line of at most 200 characters", () => {
    const [line = ""] = failed(
      { json: { "/a": "b" } },
      json({ a: `x\n\u0007\u001b[31m${"y".repeat(5_000)}` }),
    )
    const [, value = ""] = / is (".*") and must be "b"$/.exec(line) ?? []
    assert.isAtMost(Array.from(value).length, 200)
    assert.notMatch(line, /\p{Cc}/u)
  })

  it("come to a result at any depth of nesting", () => {
    const depth = 50_000
    const body = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`
    assert.deepStrictEqual(failed({ json: { "/a": "!= x" } }, { body }), [])
    assert.strictEqual(failed({ json: { "/a/0/0": "= x" } }, { body }).length, 1)
  })

  it("come to a result for any JSON and any VALUE", () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)),
        (body, value) => {
          assert.isAtMost(failed({ json: { "": value } }, { body }).length, 1)
        },
      ),
    )
  })
})

describe("options", () => {
  const problems = (kind: string, options: object) =>
    optionProblems(kind, options).map(({ message, path }) => `${path.join(".")} ${message}`)

  it.each<readonly [string, object, RegExp]>([
    ["http", { status: [200], expect: { status: [200] } }, /^expect\.status stands in status too/],
    ["http", { text: "a", expect: { text: "a" } }, /^expect\.text stands in text too/],
    ["http", { method: "HEAD", text: "a" }, /^text searches a page/],
    ["http", { method: "HEAD", expect: { warning: { json: {} } } }, /^expect\.warning\.json searches a page/],
    ["http", { body: "a" }, /^body needs a method/],
    ["http", { auth: {} }, /^auth must have either bearer or basic$/],
    ["http", { auth: { bearer: "a" }, headers: { Authorization: "b" } }, /^auth stands in headers/],
    ["http", { auth: { basic: { user: "a:b" } } }, /^auth\.basic\.user must not contain a colon$/],
    ["http", { expect: { text: "all well", not_text: "well" } }, /^expect\.not_text stands in text/],
    ["http", { expect: { status: ["399-300"] } }, /^expect\.status\.0 must begin with its lower end$/],
    ["http", { expect: { json: { a: 1 } } }, /^expect\.json\.a must be a JSON Pointer/],
    ["http", { expect: { json: { "/~2": 1 } } }, /^expect\.json\.\/~2 must be a JSON Pointer/],
    [
      "http",
      { expect: { header: { "a b": 1 } } },
      /^expect\.header\.a b must be the name of a header field$/,
    ],
    ["http", { expect: { json: { "/a": Number.NaN } } }, /^expect\.json\.\/a must be a number/],
    ["tcp", { time: { warning: "3s", critical: "900ms" } }, /^time\.warning must not be more/],
    ["dns", { time: { critical: 1 }, critical: "1" }, /^time stands in warning or critical too/],
    ["ping", { loss: { warning: 50, critical: 20 } }, /^loss\.warning must not be more/],
    ["ping", { host: "-f" }, /^host must not begin with -$/],
  ])("of %s refuse %j", (kind, options, problem) => {
    const [found, ...others] = problems(kind, options)
    assert.match(found ?? "", problem)
    assert.deepStrictEqual(others, [])
  })

  it("are none for what may stand together", () => {
    assert.deepStrictEqual(
      problems("http", {
        method: "POST",
        body: { a: 1 },
        auth: { basic: { user: "a" } },
        expect: { status: [200, "300-399"], json: { "": "exists", "/a~0~1": "~ *" }, warning: { text: "a" } },
        time: { warning: 1_000, critical: 1_000 },
      }),
      [],
    )
  })
})
