import { createHash } from "node:crypto"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { nrdp } from "../../../src/features/integrations/nrdp.ts"
import { readXml } from "../../../src/features/integrations/readXml.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const context = {
  name: AgentId.make("nagios"),
  options: {},
  now: Instant.fromMillis(1_772_600_000_000),
  sha256,
}

/** The results of a form as `ID status output`, or why they are refused. */
const read = (field: string, data: string, command = "submitcheck") => {
  const query = [["cmd", command] as const, [field, data] as const]
  const reading = nrdp.translate({ method: "POST", path: [], query, body: "" }, context)
  if ("refused" in reading) return reading.message
  const results = reading.reports.map((report) =>
    report.signal === "result" ? [report.check_id, report.status, report.output ?? report.otherwise] : [],
  )
  return [...results, ...reading.refusals.map(({ message }) => message)]
}

const result = (type: string, fields: Readonly<Record<string, string>>) =>
  `<checkresult type='${type}'>${Object.entries(fields)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join("")}</checkresult>`
const service = (state: string, output: string, servicename = "disk") =>
  result("service", { servicename, hostname: "web1", state, output })
const all = (...results: ReadonlyArray<string>) => `<checkresults>${results.join("\n")}</checkresults>`

describe("results of Nagios", () => {
  it("have the states of services and of hosts, and Nagios' ends of lines", () => {
    assert.deepStrictEqual(
      read(
        "xml",
        all(
          service("0", "fine"),
          service("1", "90 %\\nof 10 GB | used=9"),
          service("2", ""),
          service("3", "?"),
          result("host", { hostname: "web1", state: "0", output: "up" }),
          result("host", { hostname: "web2", state: "1", output: "", time: "1772539200" }),
        ),
      ),
      [
        ["web1:disk", "ok", "fine"],
        ["web1:disk", "warning", "90 %\nof 10 GB | used=9"],
        ["web1:disk", "critical", 'status "critical"'],
        ["web1:disk", "unknown", "?"],
        ["web1:host", "ok", "up"],
        ["web2:host", "critical", "checked 2026-03-03 12:00:00 UTC"],
      ],
    )
  })

  it("never are of one check where their names differ", () => {
    const ids = [
      ["a:b", "c"],
      ["a", "b:c"],
      ["a", "b c"],
      ["a", "b_c"],
      ["a", "host"],
      ["a", ""],
      ["a:b", "host"],
      ["a:b", ""],
    ].map(([hostname = "", servicename = ""]) =>
      read("json", JSON.stringify({ checkresults: [{ hostname, servicename, state: 0 }] })),
    )
    assert.strictEqual(new Set(ids.map(String)).size, ids.length)
  })

  it("that cannot be read are refused one by one", () => {
    assert.deepStrictEqual(
      read(
        "xml",
        all(service("4", ""), service("", ""), result("service", { hostname: "a" }), service("0", "")),
      ),
      [
        ["web1:disk", "ok", undefined],
        "result 1 must have a state from 0 to 3",
        "result 2 must have a state from 0 to 3",
        "result 3 must have a servicename",
      ],
    )
    assert.deepStrictEqual(read("JSONDATA", '{"checkresults": [7, {"hostname": "a", "state": "2"}]}'), [
      ["a:host", "critical", 'status "critical"'],
      "result 1 must have a hostname",
    ])
    assert.strictEqual(read("json", "[]"), "the JSON must have a list checkresults")
    assert.strictEqual(read("json", "{"), "the field json must be valid JSON")
    assert.strictEqual(read("xml", ""), "the request must have results in the field xml or json")
    assert.strictEqual(read("xml", all(), "hello"), "the field cmd must be submitcheck")
    assert.deepStrictEqual(read("xml", all(), "SubmitCheck"), [])
  })
})

describe("XML", () => {
  const textOf = (xml: string) => {
    const root = readXml(xml)
    return "refused" in root ? root.message : root.text
  }

  it("has the five entities, references to characters, and sections", () => {
    assert.strictEqual(
      textOf("<a>&lt;&gt;&amp;&quot;&apos;&#39;&#x1F525;<![CDATA[&lt;]]></a>"),
      "<>&\"''🔥&lt;",
    )
    assert.strictEqual(textOf("<a>&#0;&#xd800;&#x110000;</a>"), "\ufffd\ufffd\ufffd")
    assert.strictEqual(textOf("<?xml version='1.0'?>\n<!-- none --><a  b = 'c'\n d=\"'\" ><e/>f</a >\n"), "f")
  })

  it("without a beginning, an end or its own entities is refused", () => {
    const entities = "the XML must have no entities but amp, lt, gt, quot and apos"
    for (const text of ["&nbsp;", "&", "&amp", "&#;", "&constructor;", "&LT;"])
      assert.strictEqual(textOf(`<a>${text}</a>`), entities, text)
    const malformed = "the XML must be well-formed, without a DTD"
    for (const xml of [
      '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
      "<a b=c/>",
      "<a",
      "<a><![CDATA[</a>",
      "<a b='<'/>",
    ])
      assert.strictEqual(textOf(xml), malformed, xml)
    const partial = "the XML must be one element, with its end"
    for (const xml of ["", "a", "<a>", "<a/><b/>", "<a/>b"]) assert.strictEqual(textOf(xml), partial, xml)
    assert.strictEqual(textOf("<a></b>"), "the XML must end each element where it began")
    assert.strictEqual(textOf("</a>"), "the XML must end each element where it began")
  })

  it("is of few levels and elements, and no broken one takes long", () => {
    const nested = (levels: number) => "<a>".repeat(levels) + "</a>".repeat(levels)
    assert.strictEqual(textOf(nested(8)), "")
    assert.strictEqual(textOf(nested(9)), "the XML must have at most 8 levels")
    assert.match(textOf(`<a>${"<b/>".repeat(60_000)}</a>`), /at most 60000 elements/)
    const before = process.threadCpuUsage()
    for (const part of [
      "<a",
      "<a ",
      "<a b='",
      " b='c'",
      "<!--",
      "<![CDATA[",
      "<?",
      "&",
      "&#",
      "</a ",
      "-",
      "]]",
    ])
      for (const start of ["", "<a"]) textOf(start + part.repeat(250_000 / part.length))
    assert.isBelow(process.threadCpuUsage(before).user, 5_000_000)
  })
})
