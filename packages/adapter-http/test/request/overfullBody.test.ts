import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result } from "effect"
import * as fc from "fast-check"
import { MAX_EXPECTATIONS } from "@tocsin/contract/overdue/Expectations"
import {
  MAX_SENDER_VALUES,
  MAX_VALUES,
  overfullBody,
  overfullSenderBody,
} from "@tocsin/contract/v1/decodeRequest"
import { parseJson } from "../../src/request/RequestBody.ts"

const MIB = 1_048_576

/** Elements and members of a parsed value, an empty array or object being one. */
const countOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  const held: ReadonlyArray<unknown> = Object.values(value)
  return held.reduce<number>((sum, each) => sum + countOf(each), Math.max(1, held.length))
}

/** Strings that look like structure, and ends of strings that are none. */
const tricky = fc.string({ unit: fc.constantFrom("{", "[", ",", ":", '"', "\\", "é", "😀", "\n") })
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.oneof(tricky, fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie("tree"), { maxLength: 5 }),
    fc.dictionary(tricky, tie("tree"), { maxKeys: 5 }),
  ),
}))

const repeated = (unit: string): string => unit.repeat(Math.floor((MIB - 100) / unit.length))
const WHOLE =
  "the request body must contain at most 8000 values; send at most 200 events, 32 labels and 1000 checks"
const LABELS = "labels must contain at most 32 entries"
const EVENTS = "events must contain 1 to 200 events"
const CHECKS = "checks must contain at most 1000 checks"
const wide = Array.from({ length: 75_000 }, (_, at) => `"${at}":"v"`).join(",")
const deep = `${"[".repeat(500_000)}${"]".repeat(500_000)}`

const tooMany: ReadonlyArray<readonly [name: string, text: string, message: string]> = [
  ["a hundred thousand labels", `{"agent_id":"a","labels":{${wide}}}`, LABELS],
  ["as many under another name", `{"labels":{},"label":{${wide}}}`, WHOLE],
  ["as many within one label", `{"labels":{"a":{${wide}}}}`, WHOLE],
  ["labels in the name of a field", `{"labels\\":{":{${wide}}}`, WHOLE],
  ["a value repeated", `[${repeated("1,")}1]`, WHOLE],
  ["a value repeated as events", `{"events":[${repeated("1,")}1]}`, EVENTS],
  ["objects repeated as checks", `{"checks":[${repeated('{"check_id":"a"},')}1]}`, CHECKS],
  ["events that are nested deep", `{"events":[${deep}]}`, WHOLE],
  ["one key repeated", `{${repeated('"a":1,')}"a":1}`, WHOLE],
  ["empty objects", `{"x":[],"events":[${repeated("{},")}1]}`, EVENTS],
  ["arrays in arrays", deep, WHOLE],
  ["objects in objects", `${'{"a":'.repeat(170_000)}1${"}".repeat(170_000)}`, WHOLE],
  ["arrays without end", "[".repeat(MIB), WHOLE],
  ["labels without end", `{"labels":{${repeated('"a":[],')}`, LABELS],
]

describe("the values of a body", () => {
  it("are counted as they would be after parsing", () => {
    fc.assert(
      fc.property(tree, fc.nat({ max: 3 }), fc.constantFrom(undefined, 2), (value, beyond, indent) => {
        const own = JSON.stringify(value, undefined, indent)
        // Filled up to the limit, and beyond.
        const filler = MAX_VALUES - countOf(value) - 1 + beyond
        const text = `[${own}${",1".repeat(filler)}${" ".repeat(3 * MAX_VALUES)}]`
        assert.strictEqual(overfullBody(Buffer.from(text)) !== undefined, beyond > 0)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it("of the largest declaration may be", () => {
    const check = {
      cron: "0 3 * * *",
      tz: "UTC",
      grace: "1h",
      severity: "critical",
      notifications_enabled: false,
    }
    const checks = Array.from({ length: MAX_EXPECTATIONS }, (_, at) => ({
      check_id: `check-${at}`,
      ...check,
    }))
    assert.isTrue(Result.isSuccess(parseJson(Buffer.from(JSON.stringify({ checks, complete: true })))))
  })

  it("of the most alerts of a request may be, and no body of a sender has more", () => {
    const alerts = Array.from({ length: 10_000 }, (_, n) => ({
      labels: { alertname: `Load${n}`, job: "db" },
    }))
    const body = JSON.stringify(alerts)
    assert.isUndefined(overfullSenderBody(Buffer.from(body)))
    const wanting = MAX_SENDER_VALUES - countOf(alerts)
    const filled = (more: number) => Buffer.from(`[${body.slice(1, -1)}${",1".repeat(wanting + more)}]`)
    assert.isUndefined(overfullSenderBody(filled(0)))
    assert.isDefined(overfullSenderBody(filled(1)))
  })

  it("of the largest batch are less than half of what may be", () => {
    const event = {
      event_id: "0190a5d0-0000-7000-8000-000000000001",
      check_id: "disk",
      observed_at: "2026-03-01T12:00:00Z",
      status: "ok",
      exit_code: 0,
      duration_ms: 12,
      output: "x".repeat(4_000),
      output_truncated: false,
      notifications_enabled: true,
      incident_key: "a,b,{[",
    }
    const batch = { agent_id: "a", events: Array.from({ length: 200 }, () => event) }
    assert.isBelow(countOf(batch), MAX_VALUES / 2)
    assert.isTrue(Result.isSuccess(parseJson(Buffer.from(JSON.stringify(batch)))))
  })

  describe("that are too many", () => {
    afterEach(() => void vi.restoreAllMocks())

    it.each(tooMany)("are not parsed: %s", (_, text, message) => {
      const body = Buffer.from(text)
      const parse = vi.spyOn(JSON, "parse")
      const parsed = parseJson(body)
      assert.strictEqual(parse.mock.calls.length, 0)
      assert.deepStrictEqual(parsed, Result.fail(message))
    })
  })
})
