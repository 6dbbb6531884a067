import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId, isCheckId, isIncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import {
  type RequestKindName,
  requestKindNames,
  integrationKind,
} from "@tocsin/contract/integrations/integrationKinds"
import { isLabels } from "@tocsin/contract/labels/Labels"
import { isShortOutput } from "@tocsin/contract/formats/outputText"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"
import { KINDS, optionProblem } from "../../../src/features/integrations/kinds.ts"
import type { AnyReport, SenderRequest } from "../../../src/features/integrations/Report.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom(
    "start",
    "log",
    "fail",
    "0",
    "256",
    "api",
    "v2",
    "alerts",
    "push",
    "__proto__",
    "\ud83d",
    "",
  ),
)
const time = fc.constantFrom(
  "2026-03-03T12:00:00Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999999999+00:01",
  "2026-03-03T12:00:00-23:59",
  "soon",
  7,
  null,
)
const alert = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue() },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        labels: fc.oneof(fc.dictionary(text, text), fc.jsonValue()),
        annotations: fc.oneof(fc.dictionary(text, text), fc.jsonValue()),
        endsAt: time,
        status: fc.constantFrom("firing", "resolved", 7),
        generatorURL: fc.oneof(text, fc.webUrl({ withQueryParameters: true })),
      },
      { requiredKeys: [] },
    ),
  },
)
const alerts = fc.array(alert, { maxLength: 5 })
const json = fc.oneof(
  alerts,
  fc.record({ version: fc.constantFrom("4", "1", 7), alerts }),
  fc.record(
    {
      event_action: fc.constantFrom("trigger", "acknowledge", "resolve"),
      dedup_key: fc.oneof(text, fc.jsonValue()),
      payload: fc.oneof(
        fc.record({ summary: text, severity: text, custom_details: fc.jsonValue() }),
        fc.jsonValue(),
      ),
      links: fc.oneof(fc.array(fc.record({ href: text })), fc.jsonValue()),
      alias: text,
      message: fc.oneof(text, fc.jsonValue()),
      tags: fc.oneof(fc.array(text), fc.jsonValue()),
      details: fc.oneof(fc.dictionary(text, text), fc.jsonValue()),
      note: text,
    },
    { requiredKeys: [] },
  ),
  fc.record({ name: fc.jsonValue(), state: fc.constantFrom("ok", "critical", "odd", true) }),
  fc.jsonValue(),
)

const PATHS: Readonly<Partial<Record<RequestKindName, fc.Arbitrary<ReadonlyArray<string>>>>> = {
  alertmanager: fc.constant(["api", "v2", "alerts"]),
  webhook: fc.constant([]),
  pagerduty: fc.constantFrom(["v2", "enqueue"], ["v2", "change", "enqueue"]),
  opsgenie: fc.oneof(
    fc.constant(["v2", "alerts"]),
    fc.tuple(
      fc.constant("v2"),
      fc.constantFrom("alerts", "heartbeats"),
      fc.oneof(text, fc.uuid()),
      fc.oneof(fc.constantFrom("ping", "close", "acknowledge", "notes", "message", "description"), text),
    ),
  ),
}

const requestOf = (kind: RequestKindName): fc.Arbitrary<SenderRequest> =>
  fc.record({
    method: fc.constantFrom("GET", "HEAD", "POST", "PUT"),
    path: PATHS[kind] ?? fc.array(text, { maxLength: 3 }),
    query: fc.array(
      fc.tuple(
        fc.constantFrom("status", "msg", "ping", "rid", "every", "severity", "identifierType", "\n"),
        fc.oneof(text, fc.constant("alias")),
      ),
    ),
    body: fc.oneof(
      json.map((value) => JSON.stringify(value)),
      text,
    ),
  })

const OPTIONS: Readonly<Record<RequestKindName, IntegrationOptions>> = {
  ping: { methods: ["POST"] },
  push: {},
  alertmanager: { group_by: ["alertname", ""], watchdog: "__proto__", severity: { ignore: [""] } },
  webhook: { map: { check: "/name", status: "/state", output: "/name/0" } },
  nrdp: {},
  icinga: {},
  sentry: {},
  monit: {},
  pagerduty: { severity: { info: "ignore", error: "unknown" } },
  opsgenie: { heartbeat_after: "1h", acknowledged_for: "0s" },
}

const problemsOf = (report: AnyReport): ReadonlyArray<string> => {
  if (!isCheckId(report.check_id)) return ["check_id"]
  if (report.signal !== "result") return []
  const { incident_key, labels, output } = report
  return [
    ...(labels === undefined || isLabels(labels) ? [] : ["labels"]),
    ...(incident_key === undefined || isIncidentKey(incident_key) ? [] : ["incident_key"]),
    ...(output === undefined || (isShortOutput(output) && !output.includes("\0")) ? [] : ["output"]),
  ]
}

describe("any request to an integration", () => {
  it.each(requestKindNames)("of kind %s is read as reports within their limits, or refused", (kind) => {
    fc.assert(
      fc.property(requestOf(kind), fc.boolean(), (request, isPlain) => {
        const context = { name: AgentId.make("sender"), options: isPlain ? {} : OPTIONS[kind], sha256 }
        const now = Instant.fromMillis(1_772_539_200_000)
        const reading = KINDS[kind].translate(request, { ...context, now })
        if ("refused" in reading) return assert.match(reading.message, /^.{1,200}$/u)
        assert.deepStrictEqual(reading.reports.flatMap(problemsOf), [])
        for (const { message } of reading.refusals)
          assert.match(
            message,
            /^(?:(?:alert|result) \d+ must|the parameter|the rid|ping must|(?:the status of )?a check-in must) .{1,200}$/u,
          )
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  it("has its key where the lines to paste say, if its address has none", () => {
    for (const kind of requestKindNames) {
      const { paths, protocol } = KINDS[kind]
      if (paths("KEY", {})[0]?.includes("KEY") === true) continue
      assert.strictEqual(integrationKind(kind)?.keyAt === undefined, protocol.hasHeader, kind)
    }
  })

  it("of a kind has the options of that kind alone", () => {
    for (const kind of requestKindNames) assert.isUndefined(optionProblem(kind, OPTIONS[kind]))
    assert.match(
      optionProblem("ping", OPTIONS.webhook)?.message ?? "",
      /^options.map must be absent: ping has no such option$/,
    )
    assert.match(optionProblem("push", { max_checks: 1_001 })?.message ?? "", /at most 1000 for push$/)
  })
})
