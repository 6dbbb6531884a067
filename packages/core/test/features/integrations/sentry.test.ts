import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { AnyReport, SenderRequest } from "../../../src/features/integrations/Report.ts"
import { sentry } from "../../../src/features/integrations/sentry.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const context = {
  name: AgentId.make("jobs"),
  options: {},
  now: Instant.fromMillis(1_795_907_900_000),
  sha256,
}

const read = (path: string, given: Partial<SenderRequest> = {}) =>
  sentry.translate({ method: "POST", path: path.split("/"), query: [], body: "", ...given }, context)

const shown = (report: AnyReport): unknown => [
  report.check_id,
  report.signal === "result" ? `${report.status} ${report.duration_ms}` : report.signal,
  report.rid,
  ...("by" in report.expects &&
  report.expects.by === "terms" &&
  Object.keys(report.expects.terms).length === 0
    ? []
    : [report.expects]),
]

const reportsOf = (path: string, given: Partial<SenderRequest> = {}) => {
  const reading = read(path, given)
  return "refused" in reading ? reading : reading.reports.map(shown)
}

// Three lines, as @sentry/node 11.12.0 (November 2026) sends them; its requests of one run differ in the third alone.
const HEADER =
  '{"sent_at":"2026-11-28T23:19:20.419Z","sdk":{"name":"sentry.javascript.node","version":"11.12.0"},"trace":{"environment":"production","release":"1.0","public_key":"tocsin","trace_id":"9c1da51b86924af19fda78bbfd2ed5ee"}}'
const ITEM = '{"type":"check_in"}'
const CONTEXTS =
  '"contexts":{"trace":{"trace_id":"9c1da51b86924af19fda78bbfd2ed5ee","span_id":"9913dd8dd6cbd98d"}}'

const envelope = (fields: string): string => `${HEADER}\n${ITEM}\n{${fields},${CONTEXTS}}`

describe("check-ins of Sentry's SDK for Node.js", () => {
  it.each([
    [
      '"check_in_id":"48f5a72d965c47b3a3b724b06fa9ffe7","monitor_slug":"plain","status":"ok","release":"1.0","environment":"production","duration":12.5',
      ["plain", "ok 12500", "48f5a72d965c47b3a3b724b06fa9ffe7"],
    ],
    [
      '"check_in_id":"cf31002a42f0485180eb7347ffa56fc9","monitor_slug":"nightly","status":"in_progress","release":"1.0","environment":"production","monitor_config":{"schedule":{"type":"crontab","value":"0 3 * * *"},"checkin_margin":5,"max_runtime":30,"timezone":"Europe/Vienna","failure_issue_threshold":2,"recovery_threshold":1}',
      [
        "nightly",
        "start",
        "cf31002a42f0485180eb7347ffa56fc9",
        { by: "terms", terms: { cron: "0 3 * * *", tz: "Europe/Vienna", grace: "30m" } },
      ],
    ],
    [
      '"check_in_id":"cf31002a42f0485180eb7347ffa56fc9","monitor_slug":"nightly","status":"ok","release":"1.0","environment":"production","duration":0.3037607669830322',
      ["nightly", "ok 304", "cf31002a42f0485180eb7347ffa56fc9"],
    ],
    [
      '"check_in_id":"0968f9362f5c40b399448e44fe3d7823","monitor_slug":"broken","status":"in_progress","release":"1.0","environment":"production","monitor_config":{"schedule":{"type":"interval","value":2,"unit":"hour"}}',
      [
        "broken",
        "start",
        "0968f9362f5c40b399448e44fe3d7823",
        { by: "within", millis: 150 * 60_000, grace_millis: 30 * 60_000 },
      ],
    ],
    [
      '"check_in_id":"0968f9362f5c40b399448e44fe3d7823","monitor_slug":"broken","status":"error","release":"1.0","environment":"production","duration":0.0005693435668945312',
      ["broken", "critical 1", "0968f9362f5c40b399448e44fe3d7823"],
    ],
    // Beside another environment.
    [
      '"check_in_id":"0968f9362f5c40b399448e44fe3d7823","monitor_slug":"broken","status":"ok","environment":"staging"',
      ["broken:staging", "ok 0", "0968f9362f5c40b399448e44fe3d7823"],
    ],
  ])("such as %s are runs of a job", (fields, expected) => {
    assert.deepStrictEqual(reportsOf("api/1/envelope", { body: envelope(fields) }), [expected])
  })

  it.each([
    [
      "a session",
      `${HEADER}\n{"type":"session"}\n{"sid":"49b0e038329346ca96b661a8f25b2058","status":"ok"}`,
      undefined,
    ],
    [
      "an error",
      `${HEADER}\n{"type":"event"}\n{"message":"{\\"type\\":\\"check_in\\"}"}`,
      /^errors and traces are ignored/,
    ],
  ])("and %s is none", (_, body, message) => {
    const reading = read("api/1/envelope", { body })
    assert.isFalse("refused" in reading)
    if ("refused" in reading) return
    assert.deepStrictEqual([reading.reports, reading.answer], [[], { status: 200, body: "{}" }])
    if (message === undefined) assert.deepStrictEqual(reading.refusals, [])
    else assert.match(reading.refusals[0]?.message ?? "", message)
  })

  it("count with a schedule that cannot be read, which the integration then says", () => {
    const body = envelope(
      '"monitor_slug":"a","status":"error","monitor_config":{"schedule":{"type":"interval","value":2,"unit":"fortnight"}}',
    )
    const reading = read("api/1/envelope", { body })
    if ("refused" in reading) return assert.fail(reading.message)
    assert.deepStrictEqual(reading.reports.map(shown), [["a", "critical 0", ""]])
    assert.match(reading.refusals[0]?.message ?? "", /^monitor_config\.schedule must have the type crontab/)
    assert.strictEqual(reading.refusals[0]?.refused, "ignored")
  })
})

describe("check-ins by a request of their own", () => {
  const query = (text: string) => Array.from(new URLSearchParams(text))

  it.each([
    ["api/1/cron/nightly/tocsin", "status=in_progress", "", ["nightly", "start", ""]],
    ["api/1/cron/nightly", "status=ok&environment=production&duration=2", "", ["nightly", "ok 2000", ""]],
    [
      "api/1/cron/nightly",
      "",
      '{"status":"error","check_in_id":"48f5a72d-965c-47b3-a3b7-24b06fa9ffe7"}',
      ["nightly", "critical 0", "48f5a72d965c47b3a3b724b06fa9ffe7"],
    ],
    [
      "api/0/organizations/acme/monitors/nightly/checkins/48f5a72d965c47b3a3b724b06fa9ffe7",
      "",
      '{"status":"ok","duration":1}',
      ["nightly", "ok 1000", "48f5a72d965c47b3a3b724b06fa9ffe7"],
    ],
  ])("to %s?%s with %s are read", (path, text, body, expected) => {
    assert.deepStrictEqual(reportsOf(path, { query: query(text), body }), [expected])
  })

  it("get an ID where they have none, by which the older API ends their run", () => {
    const reading = read("api/0/monitors/nightly/checkins", { body: '{"status":"in_progress"}' })
    if ("refused" in reading) return assert.fail(reading.message)
    const rid = reading.reports[0]?.rid ?? ""
    assert.match(rid, /^[0-9a-f]{32}$/)
    assert.deepStrictEqual(reading.answer, { status: 200, body: JSON.stringify({ id: rid }) })
  })

  it.each([
    ["api/1/cron/nightly", "status=odd", "the status of a check-in must be in_progress, ok or error"],
    ["api/1/cron", "status=ok", "not found"],
    ["api/1/envelope/x", "", "not found"],
    ["nightly", "", "not found"],
  ])("to %s?%s are refused in words", (path, text, message) => {
    const reading = read(path, { query: query(text) })
    assert.deepStrictEqual("refused" in reading ? [reading] : reading.refusals.map((one) => ({ ...one })), [
      { refused: message === "not found" ? "not_found" : "invalid", message },
    ])
  })
})
