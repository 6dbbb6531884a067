import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { compileGlob } from "../../src/formats/compileGlob.ts"
import {
  compileMatchers,
  isPositive,
  type MatchedFacts,
  Matcher,
  Matchers,
  parseMatcher,
} from "../../src/labels/Matcher.ts"
import { formatMatcher } from "../../src/labels/matcherText.ts"
import { Silence, SilenceRequest } from "../../src/silences/Silences.ts"

/** The definition of a glob, as plainly as possible: every way of splitting the value is tried. */
const matchesByDefinition = (pattern: ReadonlyArray<string>, value: ReadonlyArray<string>): boolean => {
  const [first, ...rest] = pattern
  if (first === undefined) return value.length === 0
  if (first === "*")
    return value.some((_, n) => matchesByDefinition(rest, value.slice(n))) || matchesByDefinition(rest, [])
  return (
    value.length > 0 && (first === "?" || first === value[0]) && matchesByDefinition(rest, value.slice(1))
  )
}

const few = fc.array(fc.constantFrom("a", "b", "A", "\\", "😀"), { maxLength: 7 })
const glob = fc.array(fc.constantFrom("a", "b", "\\", "😀", "*", "?"), { maxLength: 6 })

const facts = (given: Partial<MatchedFacts>): MatchedFacts =>
  ({
    agent_id: "web-1",
    check_id: "disk",
    incident_key: "web-1/disk",
    hostname: "h",
    severity: "critical",
    labels: {},
    ...given,
  }) as MatchedFacts

describe("a glob", () => {
  it("matches what its definition matches", () => {
    fc.assert(
      fc.property(glob, few, (pattern, value) => {
        expect(compileGlob(pattern.join(""))(value.join(""))).toBe(matchesByDefinition(pattern, value))
      }),
      { numRuns: 2_000 },
    )
  })

  it("takes no longer than its length times the value's, however many stars it has", () => {
    const pattern = "*a".repeat(128)
    expect(compileGlob(pattern)("a".repeat(127) + "b".repeat(4_000))).toBe(false)
    expect(compileGlob(pattern)("b".repeat(4_000) + "a".repeat(128))).toBe(true)
  })

  it("looks at each character of a page once, whatever stands between stars", () => {
    const part = `${"a".repeat(500)}?${"a".repeat(500)}`
    const page = "a".repeat(300_000)
    expect(compileGlob(`*${part}b*`)(page)).toBe(false)
    expect(compileGlob(`*${part}b*`)(`${page}b`)).toBe(true)
  })
})

describe("matchers", () => {
  const holds = (text: string, given: Partial<MatchedFacts>) =>
    compileMatchers([Result.getOrThrow(parseMatcher(text))])(facts(given))

  it.each([
    ["agent_id = web-1", {}, true],
    ["agent_id = WEB-1", {}, false],
    ["check_id glob di?k", {}, true],
    ["severity != critical", {}, false],
    ["label:team = db", { labels: { team: "db" } }, true],
    ["label:team=db", { labels: { team: "db" } }, true],
    ["label:team != db", { labels: {} }, true],
    ["label:team = ", { labels: {} }, true],
    ["label:toString = ", { labels: {} }, true],
    ["label:__proto__ glob *", { labels: {} }, true],
    ["incident_key = a = b", { incident_key: "a = b" as MatchedFacts["incident_key"] }, true],
    ["incident_key=a=b", { incident_key: "a=b" as MatchedFacts["incident_key"] }, true],
    ["agent_id!=web-2", {}, true],
  ] as const)("%s", (text, given, expected) => {
    expect(holds(text, given)).toBe(expected)
  })

  it.each([
    "",
    "agent_id",
    "agent = a",
    "label: = a",
    "label:a b = c",
    "agent_id ~ a",
    "check_id == disk",
    "check_id =~ web.*",
    "check_id !~ web.*",
    "severity = crit",
    "severity != ",
    `agent_id = ${"a".repeat(257)}`,
  ])("%j is refused with what to write", (text) => {
    expect(Result.isFailure(parseMatcher(text))).toBe(true)
  })

  it("of a label without its prefix are refused with the fields that they may begin with", () => {
    expect(parseMatcher("team = db")).toEqual(
      Result.fail("must begin with agent_id, check_id, incident_key, hostname, severity or label:KEY"),
    )
  })

  it("need one that is positive on a field other than severity", () => {
    const accepts = (...texts: ReadonlyArray<string>) =>
      Result.isSuccess(
        Schema.decodeUnknownResult(Matchers)(texts.map((text) => Result.getOrThrow(parseMatcher(text)))),
      )
    expect(accepts("severity = critical")).toBe(false)
    expect(accepts("agent_id != a")).toBe(false)
    expect(accepts("agent_id glob *?")).toBe(false)
    expect(accepts()).toBe(false)
    expect(accepts("agent_id != a", "check_id glob d*")).toBe(true)
    expect(accepts("agent_id != a", "label:node = ")).toBe(false)
    expect(accepts("label:node = web-1", "label:env = ")).toBe(true)
    expect(accepts(...Array.from({ length: 21 }, () => "agent_id = a"))).toBe(false)
  })

  it.each([
    ["=", ""],
    ["=", "  "],
    ["=", "\u00a0"],
    ["!=", ""],
    ["glob", ""],
    ["glob", "* *"],
    ["glob", "?*"],
  ] as const)("that name nothing by %s %j are not positive", (op, value) => {
    for (const field of ["label:node", "check_id", "agent_id", "hostname", "incident_key"] as const)
      expect(isPositive({ field, op, value })).toBe(false)
  })

  it("that name nothing are shown where an earlier version stored them", () => {
    const matchers = [{ field: "label:node", op: "=", value: "" }] as const
    expect(Schema.is(Silence.fields.matchers)(matchers)).toBe(true)
    expect(Schema.is(SilenceRequest.fields.matchers)(matchers)).toBe(false)
  })

  it("read as they are written", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("agent_id", "label:glob", "label:a.b:c"),
        fc.constantFrom("=", "!=", "glob"),
        fc.stringMatching(/^([!-~]([ -~]{0,20}[!-~])?)?$/u),
        (field, op, value) => {
          const matcher = Schema.decodeUnknownSync(Matcher)({ field, op, value })
          expect(parseMatcher(formatMatcher(matcher))).toEqual(Result.succeed(matcher))
        },
      ),
    )
  })
})
