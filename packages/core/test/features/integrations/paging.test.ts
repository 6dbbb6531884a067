import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { optionProblem } from "../../../src/features/integrations/kinds.ts"
import { ALERT_REQUESTS, opsgenie } from "../../../src/features/integrations/opsgenie.ts"
import { ACTIONS, pagerduty } from "../../../src/features/integrations/pagerduty.ts"
import { PagedAlertTransitions } from "../../../src/features/integrations/PagedAlert.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const context = (options: IntegrationOptions) => ({
  name: AgentId.make("pager"),
  options,
  now: Instant.fromMillis(0),
  sha256,
})

const event = (given: object, options: IntegrationOptions = {}, path = "v2/enqueue") =>
  pagerduty.translate(
    { method: "POST", path: path.split("/"), query: [], body: JSON.stringify(given) },
    context(options),
  )

const request = (
  [method, path, body, query = []]: readonly [
    method: string,
    path: string,
    body?: object | undefined,
    query?: ReadonlyArray<readonly [string, string]>,
  ],
  options: IntegrationOptions = {},
) =>
  opsgenie.translate(
    {
      method,
      path: path.split("/").map(decodeURIComponent),
      query,
      body: body === undefined ? "" : JSON.stringify(body),
    },
    context(options),
  )

/** The only result of a request. */
const resultIn = (reading: ReturnType<typeof event>) => {
  if ("refused" in reading) return assert.fail(reading.message)
  const [report, ...others] = reading.reports
  assert.strictEqual(others.length, 0)
  return report?.signal === "result" ? report : assert.fail("no result")
}
const refusalOf = (reading: ReturnType<typeof event>) =>
  "refused" in reading ? `${reading.refused}: ${reading.message}` : assert.fail("it was taken")
const answerOf = (reading: ReturnType<typeof event>) =>
  "refused" in reading ? assert.fail(reading.message) : reading.answer

const NO_REQUEST = { method: "POST", path: [], query: [], body: "" }

const trigger = {
  event_action: "trigger",
  dedup_key: "disk/1",
  payload: { summary: "disk full", source: "db-1", severity: "error" },
}

describe("an event of PagerDuty", () => {
  it("has the status of its severity, which the option changes or ignores", () => {
    const statusOf = (severity: string, options?: IntegrationOptions) => {
      const reading = event({ ...trigger, payload: { ...trigger.payload, severity } }, options)
      return "refused" in reading || reading.reports.length === 0 ? "none" : resultIn(reading).status
    }
    const severities = ["critical", "error", "warning", "info", "odd", "__proto__", "CRITICAL"]
    assert.deepStrictEqual(
      severities.map((each) => statusOf(each)),
      ["critical", "critical", "warning", "warning", "warning", "warning", "critical"],
    )
    const severity = { error: "unknown", warning: "critical", info: "ignore" } as const
    assert.deepStrictEqual(
      severities.map((each) => statusOf(each, { severity })),
      ["critical", "unknown", "critical", "none", "warning", "warning", "critical"],
    )
  })

  it("has the labels of its payload before its details, and the first link as its runbook", () => {
    const custom_details = { zone: "eu", team: "db", source: "other", load: 7, nested: { a: [1] }, empty: "" }
    const links = [{ href: "https://wiki.example.org/disk" }, { href: "https://other.example.org" }]
    const payload = { ...trigger.payload, component: "disk", group: "db", class: "storage", custom_details }
    const { check_id, labels, output } = resultIn(event({ ...trigger, payload, links }))
    assert.match(check_id, /^disk_1\.[0-9a-f]{12}$/)
    assert.deepStrictEqual(labels, {
      team: "db",
      runbook_url: "https://wiki.example.org/disk",
      source: "db-1",
      component: "disk",
      group: "db",
      class: "storage",
      load: "7",
      nested: '{"a":[1]}',
      zone: "eu",
    })
    assert.strictEqual(output, 'disk full\nload: 7\nnested: {"a":[1]}\nsource: other\nteam: db\nzone: eu')
    // Alertmanager 0.28, whose default details list the alerts of a group.
    const alert = (name: string) =>
      `Labels:\n - alertname = ${name}\n - team = db\nAnnotations:\n - summary = x\n - team = web\nSource: http://prom/graph\n`
    const custom = { firing: alert("A") + alert("B"), resolved: "", num_firing: "2" }
    const listed = resultIn(event({ ...trigger, payload: { ...trigger.payload, custom_details: custom } }))
    assert.strictEqual(listed.labels?.["team"], "db")
    assert.isUndefined(listed.labels?.["alertname"])
    const text = resultIn(event({ ...trigger, payload: { ...trigger.payload, custom_details: "see below" } }))
    assert.strictEqual(text.output, "disk full\nsee below")
  })

  it("without a dedup_key gets one, the same each time, which its answer states", () => {
    const { dedup_key: _, ...unnamed } = trigger
    const [first, again] = [event(unnamed), event({ ...unnamed, dedup_key: "" })]
    assert.deepStrictEqual(answerOf(first), answerOf(again))
    const answer = JSON.parse(answerOf(first)?.body ?? "") as Readonly<Record<string, string>>
    assert.match(answer["dedup_key"] ?? "", /^[0-9a-f]{32}$/)
    assert.deepInclude(answer, { status: "success" })
    const resolve = { event_action: "resolve", dedup_key: answer["dedup_key"] }
    assert.strictEqual(resultIn(event(resolve)).check_id, resultIn(first).check_id)
  })

  it("that is not valid is refused in PagerDuty's form", () => {
    for (const [given, expected] of [
      [[], "invalid: the request body must be an event"],
      [
        { ...trigger, event_action: "toString" },
        "invalid: event_action must be trigger, acknowledge or resolve",
      ],
      [{ event_action: "resolve" }, "invalid: dedup_key must name the alert"],
      [{ event_action: "trigger", payload: 7 }, "invalid: payload.summary must be a text"],
    ] as const)
      assert.strictEqual(refusalOf(event(given)), expected)
    assert.match(refusalOf(event(trigger, {}, "v2/other")), /^not_found/)
    const said = pagerduty.protocol.say({ code: "validation", message: "no" }, "", NO_REQUEST)
    assert.deepStrictEqual(JSON.parse(said), { status: "invalid event", message: "no", errors: ["no"] })
  })

  it("about a change is taken and changes nothing", () => {
    const reading = event({ payload: { summary: "deployed" } }, {}, "v2/change/enqueue")
    assert.strictEqual(answerOf(reading)?.status, 202)
    assert.deepInclude(reading, { reports: [] })
  })
})

describe("a request of Opsgenie", () => {
  const alert = { alias: "disk/1", message: "disk full", description: "90 %" }

  it("has the status of its priority, and the labels of its tags and details", () => {
    const of = (priority?: string) => resultIn(request(["POST", "v2/alerts", { ...alert, priority }])).status
    assert.deepStrictEqual(
      [of("P1"), of("P2"), of("P3"), of("P5"), of(undefined)],
      ["critical", "critical", "warning", "warning", "warning"],
    )
    const tags = ["team:db", "plain", "url:https://a:1", ":x", 7]
    const { labels, output } = resultIn(
      request(["POST", "v2/alerts", { ...alert, tags, details: { zone: "eu", team: "dba" } }]),
    )
    assert.deepStrictEqual(labels, { team: "dba", url: "https://a:1", zone: "eu" })
    assert.strictEqual(output, "disk full\n90 %")
  })

  it("names its alert by its alias, decoded once", () => {
    const { check_id } = resultIn(request(["POST", "v2/alerts", { ...alert, alias: "a%20b/c" }]))
    const path = "v2/alerts/a%2520b%2Fc/close"
    const closed = resultIn(request(["POST", path, {}, [["identifierType", "alias"]]]))
    assert.deepStrictEqual([closed.check_id, closed.status, closed.isOfKnownCheck], [check_id, "ok", true])
  })

  it("never means a heartbeat by an alias", () => {
    const ping = resultIn(request(["GET", "v2/heartbeats/nightly%20job/ping"]))
    assert.match(ping.check_id, /^heartbeat:nightly_job\.[0-9a-f]{12}$/)
    const plain = resultIn(request(["POST", "v2/heartbeats/nightly/ping", {}]))
    assert.strictEqual(plain.check_id, "heartbeat:nightly")
    for (const { alias } of [{ alias: plain.check_id }, { alias: "heartbeat:nightly job" }]) {
      const { check_id } = resultIn(request(["POST", "v2/alerts", { alias, message: "x" }]))
      assert.match(check_id, /^heartbeat:nightly.*\.[0-9a-f]{12}$/)
      assert.notStrictEqual(check_id, plain.check_id)
    }
  })

  it("has an alert looked for by its ID only where its path names one", () => {
    const id = "01890a5d-ac96-774b-bcce-b302099a8057"
    const isLookedFor = (
      method: string,
      path: string,
      query: ReadonlyArray<readonly [string, string]> = [],
    ) => opsgenie.alertNamed?.({ method, path: path.split("/"), query, body: "" }, context({})) !== undefined
    assert.isTrue(isLookedFor("POST", `v2/alerts/${id}/close`))
    assert.isTrue(isLookedFor("PUT", `v2/alerts/${id.toUpperCase()}/message`))
    assert.isFalse(isLookedFor("POST", `v2/alerts/${id}/close`, [["identifierType", "alias"]]))
    for (const [method, path] of [
      ["POST", "v2/alerts/disk/close"],
      ["PUT", `v2/alerts/${id}/close`],
      ["POST", `v2/alerts/${id}/snooze`],
      ["POST", `v2/heartbeats/${id}/ping`],
      ["GET", `v2/alerts/requests/${id}`],
    ] as const)
      assert.isFalse(isLookedFor(method, path), `${method} ${path}`)
  })

  it("of an alias with slashes is about that alert, encoded or not", () => {
    const named = resultIn(request(["POST", "v2/alerts", { message: "a", alias: "a/b/close" }]))
    for (const path of ["v2/alerts/a%2Fb%2Fclose/close", "v2/alerts/a/b/close/close"]) {
      const closed = resultIn(request(["POST", path, {}, [["identifierType", "alias"]]]))
      assert.deepStrictEqual([closed.check_id, closed.status], [named.check_id, "ok"], path)
    }
  })

  it("without a priority has that of its label severity, as Alertmanager sends it", () => {
    const status = (more: object) =>
      resultIn(request(["POST", "v2/alerts", { message: "a", ...more }])).status
    assert.deepStrictEqual(
      [
        status({ details: { severity: "critical" } }),
        status({ tags: ["severity:Page"] }),
        status({ details: { severity: "info" } }),
        status({ priority: "P4", details: { severity: "critical" } }),
        status({}),
      ],
      ["critical", "critical", "warning", "warning", "warning"],
    )
  })

  // Opsgenie takes a heartbeat by each of these methods.
  it.each(["GET", "POST", "PUT", "PATCH"] as const)(
    "of a heartbeat by %s is answered with the ID of a request",
    (method) => {
      const reading = request([method, "v2/heartbeats/nightly/ping"])
      assert.include(opsgenie.protocol.methods, method)
      const { requestId, result } = JSON.parse(answerOf(reading)?.body ?? "")
      assert.deepStrictEqual([result, typeof requestId], ["PONG - Heartbeat received", "string"])
    },
  )

  it("of a heartbeat expects the next one by the option, or as its address says", () => {
    const expects = (query: ReadonlyArray<readonly [string, string]>, options?: IntegrationOptions) =>
      resultIn(request(["GET", "v2/heartbeats/nightly/ping", undefined, query], options)).expects
    const within = { by: "within", millis: 600_000, incident: "own" } as const
    assert.deepStrictEqual(expects([]), within)
    assert.deepStrictEqual(expects([], { heartbeat_after: "5m", incident: "agent" }), {
      ...within,
      millis: 300_000,
      incident: "agent",
    })
    assert.deepStrictEqual(expects([["every", "1d"]]), { by: "terms", terms: { every: "1d" } })
  })

  it("that cannot be read is refused", () => {
    for (const [sent, expected] of [
      [["POST", "v2/alerts", {}], "invalid: message must be a text"],
      [["POST", "v2/alerts", []], "invalid: the request body must be an object"],
      [["GET", "v2/alerts/requests/x"], "not_found: not found"],
      [["GET", "v2/alerts"], "not_found: not found"],
      [["PUT", "v2/alerts/a/close", {}], "not_found: not found"],
      [["POST", "v2/alerts/a/snooze", {}], "not_found: not found"],
      [["POST", "v2/alerts/a/close/x", {}], "not_found: not found"],
      [["POST", "v1/alerts", {}], "not_found: not found"],
    ] as const)
      assert.strictEqual(refusalOf(request(sent)), expected, sent.join(" "))
    assert.match(refusalOf(request(["POST", "v2/alerts/disk/close", {}])), /add \?identifierType=alias$/)
  })
})

describe("the requests of paging services", () => {
  it("have few levels, and their keys are texts", () => {
    const details = Array.from({ length: 32 }).reduce<object>((inner) => [inner], {})
    const expected = "invalid: the request body must have at most 32 levels"
    assert.strictEqual(
      refusalOf(event({ ...trigger, payload: { ...trigger.payload, custom_details: details } })),
      expected,
    )
    assert.strictEqual(refusalOf(request(["POST", "v2/alerts", { message: "disk full", details }])), expected)
    const body = `{"routing_key":${"[".repeat(20_000)}${"]".repeat(20_000)}}`
    assert.isUndefined(pagerduty.protocol.keyOf?.({ query: [], body }))
  })

  it("report what the table of their alerts knows", () => {
    const known = new Set<string>(PagedAlertTransitions.map(({ trigger: each }) => each))
    for (const each of [...Object.values(ACTIONS), ...Object.values(ALERT_REQUESTS).map(([, of]) => of)])
      assert.isTrue(known.has(each), each)
  })

  it("follow the options of their kinds alone", () => {
    const forms = {
      pagerduty: { severity: { error: "warning" } },
      webhook: { severity: { label: "s" } },
    } as const
    assert.isUndefined(optionProblem("pagerduty", forms.pagerduty))
    assert.match(
      optionProblem("pagerduty", forms.webhook)?.message ?? "",
      /^options.severity must have the form/,
    )
    assert.match(
      optionProblem("webhook", forms.pagerduty)?.message ?? "",
      /^options.severity must have the form/,
    )
    assert.match(optionProblem("opsgenie", forms.pagerduty)?.message ?? "", /opsgenie has no such option$/)
    assert.match(optionProblem("ping", { acknowledged_for: "1h" })?.message ?? "", /has no such option$/)
  })
})
