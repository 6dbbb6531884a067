import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { MatchedFacts } from "@tocsin/contract/labels/Matcher"
import { RUNBOOK_URL } from "@tocsin/contract/policy/PolicyDocument"
import { Result } from "effect"
import * as fc from "fast-check"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const facts: MatchedFacts = {
  agent_id: AgentId.make("web-1"),
  check_id: CheckId.make("disk"),
  incident_key: IncidentKey.make("web-1/disk"),
  severity: "critical",
  hostname: "web-1.example",
  labels: { team: "db" },
}

const document = {
  runbooks: [
    { match: ["check_id = load"], url: "https://wiki.example.org/load" },
    { match: ["label:team = db"], url: "https://wiki.example.org/db?page=1", note: "Databases" },
    { match: [], url: "http://wiki.example.org/" },
  ],
}
const { runbookOf } = compilePolicy(Result.getOrThrow(readPolicy(document, [])), [])

describe("the runbook of a check", () => {
  it("is that of the first rule that matches", () => {
    const found = { url: "https://wiki.example.org/db?page=1", note: "Databases" }
    assert.deepStrictEqual(runbookOf(facts, undefined), found)
    assert.deepStrictEqual(runbookOf({ ...facts, labels: {} }, {}), { url: "http://wiki.example.org/" })
    assert.isUndefined(compilePolicy({}, []).runbookOf(facts, undefined))
  })

  it("is that of its own label, if that is an address", () => {
    const url = "https://wiki.example.org/disk#full"
    assert.deepStrictEqual(runbookOf(facts, { runbook_url: url }), { url })
    assert.strictEqual(
      runbookOf({ ...facts, labels: { runbook_url: url } }, {})?.url,
      "http://wiki.example.org/",
    )
    for (const hostile of [
      "javascript:alert(1)",
      "",
      "https://",
      "https://a.example/[b](c)",
      "https://a/@all",
    ])
      assert.strictEqual(runbookOf(facts, { runbook_url: hostile })?.note, "Databases", hostile)
  })

  it("has no character that a message, a page or a shell would read otherwise", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
        const url = `https://a.example/${text}`
        if (RUNBOOK_URL.test(url)) assert.notMatch(url, /[\s<>"'`\\@()[\]{}|*!$^\p{C}]/u)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it("is refused with another scheme, or without matchers", () => {
    const problemsOf = (rule: object) =>
      Result.getOrThrow(Result.flip(readPolicy({ runbooks: [rule] }, []))).map(({ path }) => path.join("."))
    assert.deepStrictEqual(problemsOf({ match: [], url: "ftp://a.example/" }), ["runbooks.0.url"])
    assert.deepStrictEqual(problemsOf({ url: "https://a.example/" }), ["runbooks.0.match"])
  })
})
