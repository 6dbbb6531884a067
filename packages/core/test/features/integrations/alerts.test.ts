import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId, isCheckId, isIncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { isLabels } from "@tocsin/contract/labels/Labels"
import * as fc from "fast-check"
import { alertmanager } from "../../../src/features/integrations/prometheus.ts"
import { webhook } from "../../../src/features/integrations/webhook.ts"
import type { Reading, Refusal, Report } from "../../../src/features/integrations/Report.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const now = Instant.parse("2026-03-03T12:00:00Z") ?? assert.fail("no time")
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const read = (
  kind: typeof alertmanager,
  json: unknown,
  options: IntegrationOptions = {},
  path = kind === alertmanager ? "api/v2/alerts" : "",
): Reading | Refusal =>
  kind.translate(
    {
      method: "POST",
      path: path === "" ? [] : path.split("/"),
      query: [],
      body: typeof json === "string" ? json : JSON.stringify(json),
    },
    { name: AgentId.make("prometheus"), options, now, sha256 },
  )

const resultsOf = (reading: Reading | Refusal): ReadonlyArray<Report> =>
  "refused" in reading
    ? assert.fail(reading.message)
    : reading.reports.map((report) => (report.signal === "result" ? report : assert.fail(report.signal)))

const one = (alert: object, options?: IntegrationOptions): Report => {
  const [report = assert.fail("no report")] = resultsOf(read(alertmanager, [alert], options))
  return report
}

const labels = { alertname: "HighLoad", instance: "db1:9100", severity: "warning", team: "db" }
const generatorURL = "http://prom.example.org:9090/graph?g0.expr=up"

describe("an alert of Alertmanager's API", () => {
  it("is a result of a check of its label set", () => {
    const annotations = { summary: "load is 9", description: "for 5m", runbook_url: "https://wiki/load" }
    const endsAt = "2026-03-03T14:03:59.123456789+02:00"
    const report = one({ labels, annotations, endsAt, generatorURL })
    assert.match(report.check_id, /^HighLoad\.[0-9a-f]{12}$/)
    assert.deepStrictEqual(
      { ...report, check_id: "", declaration: "" },
      {
        declaration: "",
        signal: "result",
        check_id: "",
        rid: "",
        status: "warning",
        exit_code: 1,
        duration_ms: 0,
        isOfKnownCheck: false,
        output: "load is 9\nfor 5m",
        output_truncated: false,
        labels: { ...labels, runbook_url: "https://wiki/load" },
        expects: {
          by: "source",
          source: "http://prom.example.org:9090",
          lease_millis: 240_000,
          address: generatorURL,
        },
      },
    )
  })

  it.each([
    [undefined, "warning"],
    ["0001-01-01T00:00:00Z", "warning"],
    ["", "warning"],
    ["2026-03-03T12:00:00.001Z", "warning"],
    ["2026-03-03T12:00:00Z", "ok"],
    ["2026-03-03T13:59:00+02:00", "ok"],
  ])("that ends at %s is %s", (endsAt, expected) => {
    assert.strictEqual(one({ labels, endsAt }).status, expected)
  })

  it.each([
    [{ startsAt: "2026-03-03T11:51:03.157076+00:00" }, "started 2026-03-03 11:51:03 UTC"],
    [
      { startsAt: "2026-03-03T13:51:03.5+02:00", endsAt: "2026-03-03T12:04:00Z" },
      "started 2026-03-03 11:51:03 UTC",
    ],
    [
      { startsAt: "2026-03-03T11:51:03Z", endsAt: "2026-03-03T11:55:00Z" },
      "started 2026-03-03 11:51:03 UTC, ended 2026-03-03 11:55:00 UTC",
    ],
    [{ endsAt: "2026-03-03T11:55:00Z" }, "ended 2026-03-03 11:55:00 UTC"],
    [{ startsAt: "0001-01-01T00:00:00Z" }, undefined],
    [{ startsAt: "" }, undefined],
    [{ startsAt: null }, undefined],
  ])("with the times %j shows them", (times, expected) => {
    const annotations = { summary: "load is 9", description: "for 5m" }
    const { output } = one({ labels, annotations, ...times })
    assert.deepStrictEqual(output?.split("\n"), [
      "load is 9",
      "for 5m",
      ...(expected === undefined ? [] : [expected]),
    ])
    const [reported] = resultsOf(read(webhook, { version: "1", alerts: [{ labels, annotations, ...times }] }))
    assert.strictEqual(reported?.output, output)
  })

  it.each(["soon", 7, "2026-13-01T00:00:00Z", "12:00", {}])(
    "that starts at %j is refused alone",
    (startsAt) => {
      const reading = read(alertmanager, [{ labels, startsAt }, { labels }])
      if ("refused" in reading) return assert.fail(reading.message)
      assert.strictEqual(reading.reports.length, 1)
      assert.deepStrictEqual(
        reading.refusals.map(({ message }) => message),
        ["alert 1 must have a time such as 2026-03-01T08:30:00Z as startsAt"],
      )
    },
  )

  it("keeps its summary before a long description, also in a webhook and by a map", () => {
    const alert = { labels, annotations: { summary: "load is 9", description: "x".repeat(20_000) } }
    const mapped = { check: "a", status: "critical", text: `load is 9\n${"x".repeat(20_000)}` }
    const map = { check: "/check", status: "/status", output: "/text" }
    for (const { output, output_truncated } of [
      one(alert),
      ...resultsOf(read(webhook, { version: "4", alerts: [alert] })),
      ...resultsOf(read(webhook, mapped, { map })),
    ]) {
      assert.match(output ?? "", /^load is 9\nx+\n\.\.\.\[truncated 1\d{4} bytes\]$/)
      assert.isTrue(output_truncated)
    }
  })

  it("keeps its check whatever the order of its labels, and has another for other labels", () => {
    const id = (given: Readonly<Record<string, string>>) => one({ labels: given }).check_id
    assert.strictEqual(id(labels), id(Object.fromEntries(Object.entries(labels).toReversed())))
    assert.strictEqual(id(labels), id({ ...labels, empty: "" }))
    assert.notStrictEqual(id(labels), id({ ...labels, instance: "db2:9100" }))
    assert.match(id({ alertname: "ä".repeat(200) }), /^_{115}\.[0-9a-f]{12}$/)
    assert.match(id({ job: "x" }), /^alert\.[0-9a-f]{12}$/)
  })

  it.each([
    [{}, ["warning", "critical", "critical", "critical", undefined, undefined]],
    [
      { severity: { ignore: ["odd"], warning: ["page"], critical: ["info"] } },
      ["critical", "warning", undefined, "critical", "critical", "critical"],
    ],
    [{ severity: { label: "team" } }, Array.from({ length: 6 }, () => "critical")],
  ] satisfies ReadonlyArray<readonly [IntegrationOptions, ReadonlyArray<string | undefined>]>)(
    "has the severity that %j gives",
    (options, expected) => {
      const statuses = ["warning", "page", "odd", "", "info", "none"].map((severity) => {
        const reading = read(alertmanager, [{ labels: { ...labels, severity } }], options)
        return resultsOf(reading)[0]?.status
      })
      assert.deepStrictEqual(statuses, expected)
    },
  )

  it.each([
    ["OKAY", undefined],
    ["ok", undefined],
    ["INFO", undefined],
    ["WARNING", "warning"],
    ["FAILURE", "critical"],
    ["Critical", "critical"],
  ])("has the severity %s in the words of collectd and others: %s", (severity, expected) => {
    const reading = read(alertmanager, [{ labels: { ...labels, severity } }])
    assert.strictEqual(resultsOf(reading)[0]?.status, expected)
  })

  it.each([
    [generatorURL, "http://prom.example.org:9090"],
    ["https://mon.example.org/prom/graph?x", "https://mon.example.org/prom"],
    ["https://g.example.org/grafana/alerting/grafana/u1/view", "https://g.example.org/grafana"],
    ["http://loki:3000/explore?left=%7B", "http://loki:3000"],
    ["http://vm:8880/vmalert/alert?group_id=1", "http://vm:8880"],
    ["http://user:secret@prom:9090/graph", "http://prom:9090"],
    ["not an address", ""],
    [undefined, ""],
  ])("from %s has the source %s", (given, expected) => {
    const { expects } = one({ labels, generatorURL: given })
    assert.strictEqual(expects.by === "source" && expects.source, expected)
  })

  it.each([
    [generatorURL, true],
    ["HTTPS://mon.example.org", true],
    ["https://mon.example.org?q=a@b&r=ä#c", true],
    [`http://prom/${"x".repeat(989)}`, false],
    [`http://prom/${"x".repeat(988)}`, true],
    ["http://user:secret@prom:9090/graph", false],
    ["https://token@prom:9090/graph", false],
    ["http://prom\\@evil.example/", false],
    ["javascript:alert(1)", false],
    ["http://prom:9090/a b", false],
    ["http://prom:9090/\u202egraph", false],
    ["http://", false],
    [undefined, false],
  ])("has the page at its source, unless that is none, or no plain one: %#", (given, isShown) => {
    const { expects } = one({ labels, generatorURL: given })
    assert.strictEqual(expects.by === "source" && expects.address, isShown ? given : undefined)
  })

  it("is heard also where it is ignored", () => {
    const reading = read(alertmanager, [{ labels: { ...labels, severity: "none" }, generatorURL }])
    assert.deepStrictEqual(reading, { reports: [], refusals: [], heard: ["http://prom.example.org:9090"] })
  })

  it("shares an incident with others of equal labels", () => {
    const options = { group_by: ["alertname", "cluster"] }
    assert.strictEqual(one({ labels }, options).incident_key, 'prometheus{alertname="HighLoad", cluster=""}')
    const key = one({ labels: { ...labels, cluster: "\n".repeat(300) } }, options).incident_key
    assert.isTrue(isIncidentKey(key), key)
    assert.isUndefined(one({ labels }).incident_key)
  })

  it("is the watchdog's check, reversed", () => {
    const options = { watchdog: "Watchdog" }
    const firing = one({ labels: { alertname: "Watchdog", severity: "none" } }, options)
    assert.deepStrictEqual([firing.check_id, firing.status, firing.expects.by], ["Watchdog", "ok", "within"])
    const endsAt = "2026-03-03T11:00:00Z"
    assert.strictEqual(one({ labels: { alertname: "Watchdog" }, endsAt }, options).status, "critical")
  })

  it("is not expected again where senders do not repeat alerts", () => {
    const { expects } = one({ labels }, { repeats: false })
    assert.deepStrictEqual(expects, {
      by: "source",
      source: "",
      lease_millis: undefined,
      address: undefined,
    })
  })

  it("that cannot be read refuses no other", () => {
    const reading = read(alertmanager, [{ labels }, { labels: {} }, 7, { labels, endsAt: "soon" }])
    assert.strictEqual(resultsOf(reading).length, 1)
    assert.deepStrictEqual("refused" in reading ? [] : reading.refusals.map(({ message }) => message), [
      "alert 2 must have a label",
      "alert 3 must be an object",
      "alert 4 must have a time such as 2026-03-01T08:30:00Z as endsAt",
    ])
  })

  it("never has labels, an ID or a key that its limits refuse", () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 300 }),
      fc.constantFrom("a b", "a_b", "password", "alertname", "__proto__", "\ud83d"),
    )
    const options = { group_by: ["team", "a b"] }
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 60 }), (given) => {
        const reading = read(alertmanager, [{ labels: given }], options)
        if ("refused" in reading) assert.fail(reading.message)
        for (const report of resultsOf(reading)) {
          assert.isTrue(isLabels(report.labels), JSON.stringify(report.labels))
          assert.isTrue(isCheckId(report.check_id) && isIncidentKey(report.incident_key))
        }
      }),
    )
  })

  it.each([["{}"], ["x"], [""]])("is in a list: not in %j", (body) => {
    const reading = read(alertmanager, body)
    assert.strictEqual("refused" in reading && reading.refused, "invalid")
  })

  it("is read as if it were the first, after whatever came before", () => {
    // Few values under few names: many sets have the same values, or come again with another part changed.
    const value = fc.constantFrom("", "x", "y")
    const given = fc.record({
      labels: fc
        .dictionary(fc.constantFrom("a", "b", "c"), value, { maxKeys: 3 })
        .map((some): Record<string, string> => ({ ...some, z: "1" })),
      summary: value,
      link: fc.constantFrom("", "https://wiki/x"),
      host: fc.constantFrom("one", "two"),
      isFiring: fc.boolean(),
      options: fc.constantFrom<IntegrationOptions>({}, { group_by: ["a"] }, { group_by: ["b"] }),
    })
    const textOf = (labels: Record<string, string>, names: ReadonlyArray<string>) =>
      names.map((name) => `${name}=${JSON.stringify(labels[name] ?? "")}`).join(", ")
    const sets = new Map<string, string>()
    fc.assert(
      fc.property(fc.array(given, { maxLength: 12 }), (alerts) => {
        for (const { host, isFiring, labels, link, options, summary } of alerts) {
          const endsAt = isFiring ? "2026-03-03T12:04:00Z" : "2026-03-03T11:00:00Z"
          const annotations = { summary, runbook_url: link }
          const alert = { labels, annotations, endsAt, generatorURL: `http://${host}/graph` }
          const report = one(alert, options)
          const present = Object.fromEntries(Object.entries(labels).filter(([, text]) => text !== ""))
          const set = JSON.stringify(Object.entries(present).toSorted(([a], [b]) => (a < b ? -1 : 1)))
          assert.strictEqual(sets.get(set) ?? report.check_id, report.check_id)
          sets.set(set, report.check_id)
          const joined = Object.entries(present).map(([name, text]) => `${name}=${text}`)
          assert.deepStrictEqual(
            [report.status, report.output, report.labels, report.expects, report.incident_key],
            [
              isFiring ? "critical" : "ok",
              `${summary === "" ? joined.join(", ") : summary}${isFiring ? "" : "\nended 2026-03-03 11:00:00 UTC"}`,
              { ...present, ...(link !== "" && { runbook_url: link }) },
              {
                by: "source",
                source: `http://${host}`,
                lease_millis: isFiring ? 240_000 : undefined,
                address: `http://${host}/graph`,
              },
              options.group_by && `prometheus{${textOf(labels, options.group_by)}}`,
            ],
          )
        }
        assert.strictEqual(new Set(sets.values()).size, sets.size)
      }),
    )
  })

  it("is posted to one path", () => {
    const reading = read(alertmanager, [], {}, "api/v1/alerts")
    assert.strictEqual("refused" in reading && reading.refused, "not_found")
  })
})

describe("a webhook", () => {
  const firing = { status: "firing", labels, endsAt: "0001-01-01T00:00:00Z", generatorURL }
  const resolved = { ...firing, status: "resolved", endsAt: "2026-03-03T11:59:00Z" }

  it.each(["4", "1"])("of version %s has alerts that are not repeated", (version) => {
    const reports = resultsOf(read(webhook, { version, alerts: [firing, resolved] }))
    assert.deepStrictEqual(
      reports.map(({ expects, status }) => [status, expects.by === "source" && expects.lease_millis]),
      [
        ["warning", undefined],
        ["ok", undefined],
      ],
    )
  })

  const map = { check: "/monitor/na~1me", status: "/up", output: "/texts/0" }
  const values = { ok: ["true", "1"], critical: ["false"] }

  it.each([
    [{ monitor: { "na/me": "web 1" }, up: true, texts: ["fine"] }, "ok fine"],
    [{ monitor: { "na/me": 7 }, up: 1 }, "ok undefined"],
    [{ monitor: { "na/me": "web" }, up: false }, "critical undefined"],
    [{ monitor: { "na/me": "web" }, up: "warning" }, "warning undefined"],
    [{ monitor: { "na/me": "web" }, up: "odd" }, "the status at /up must be one of the option values"],
    [{ monitor: {}, up: true }, "the request body must name a check at /monitor/na~1me"],
    [{ monitor: { "na/me": "web" } }, "the request body must have a status at /up"],
    [null, "the request body must name a check at /monitor/na~1me"],
  ])("of another form, %j, is read by a map as %s", (json, expected) => {
    const reading = read(webhook, json, { map, values })
    if ("refused" in reading) return assert.strictEqual(reading.message, expected)
    const [report] = resultsOf(reading)
    assert.strictEqual(`${report?.status} ${report?.output}`, expected)
  })

  /** Each result as `CHECK STATUS`, then why parts are refused. */
  const readAs = (json: unknown, options: IntegrationOptions): ReadonlyArray<string> => {
    const reading = read(webhook, json, options)
    if ("refused" in reading) return [reading.message]
    return [
      ...resultsOf(reading).map(({ check_id, status }) => `${check_id} ${status}`),
      ...reading.refusals.map(({ message }) => message),
    ]
  }

  it.each([
    ["4", 2, "the sender left out alerts (2): set max_alerts of its webhook to 0"],
    ["1", 1, "the sender left out alerts (1): set max_alerts of its webhook to 0"],
    ["4", 0, undefined],
    ["4", undefined, undefined],
  ])("of version %s that leaves out %s alerts says so, and no status of the group counts", (...given) => {
    const [version, truncatedAlerts, expected] = given
    const reading = read(webhook, { version, status: "resolved", truncatedAlerts, alerts: [firing] })
    assert.deepStrictEqual(
      resultsOf(reading).map(({ status }) => status),
      ["warning"],
    )
    assert.deepStrictEqual(
      "refused" in reading ? [] : reading.refusals.map(({ message }) => message),
      expected === undefined ? [] : [expected],
    )
  })

  const two = { check: ["/target", "/rule"], status: "/state" }
  const named = (target: unknown, rule?: unknown) => ({ target, rule, state: "critical" })

  it("has one check for the texts at several places, which differs where one of them does", () => {
    const ids = [
      named("db1", "load"),
      named("db2", "load"),
      named("db1", "disk"),
      named("a:b", "c"),
      named("a", "b:c"),
      named("a:b:c", "c"),
      named(1, true),
    ].map((body) => readAs(body, { map: two })[0])
    assert.strictEqual(ids[0], "db1:load critical")
    assert.strictEqual(ids.at(-1), "1:true critical")
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const body of [named("db1"), named("db1", ""), named("db1", null)])
      assert.deepStrictEqual(readAs(body, { map: two }), ["the request body must name a check at /rule"])
  })

  it("has labels from places, without those that a body lacks", () => {
    const labels = { team: "/tags/team", "a b": "/n", password: "/rule", site: "/none" }
    const body = { ...named("db1", "load"), tags: { team: "db" }, n: 7 }
    const [report] = resultsOf(read(webhook, body, { map: { ...two, labels } }))
    assert.deepStrictEqual(report?.labels, { team: "db", a_b: "7" })
    assert.isUndefined(resultsOf(read(webhook, body, { map: two }))[0]?.labels)
  })

  const each = { list: "", check: "/name", status: "/state" }
  const item = (name: string, state: string) => ({ name, state })

  it.each([
    ["", [item("a", "ok"), item("b", "critical")], ["a ok", "b critical"]],
    ["", '{"name": "a", "state": "ok"}\r\n{"name": "b", "state": "critical"}\n', ["a ok", "b critical"]],
    ["", [item("a", "ok"), 7], ["a ok", "item 2 must name a check at /name"]],
    ["", [], []],
    ["", item("a", "critical"), ["a critical"]],
    ["/items", { items: [item("a", "critical"), item("a", "ok")] }, ["a critical", "a ok"]],
    ["/items", { items: item("a", "critical") }, ["the request body must have a list at /items"]],
    ["/items", {}, ["the request body must have a list at /items"]],
    ["/items", '{"items": []}\n{"items": []}', ["the request body must be valid JSON"]],
    ["", '{"name": "a", "state": "ok"}\nx', ["the request body must be valid JSON"]],
  ])("with a list at %j has a result for each item of it: %j", (list, json, expected) => {
    assert.deepStrictEqual(readAs(json, { map: { ...each, list } }), expected)
  })

  const LOST = (at: string, count: number) =>
    `the list at ${at} has ${count} items, of which the map reads one: give its place as list in the option map`
  const NESTED = (at: string, count: number) =>
    `the list at ${at} has ${count} items, of which the map reads one, as lists in a list cannot be mapped: send each of these items in a request of its own`
  it.each([
    [{ check: "/0/name", status: "/0/state" }, [item("a", "ok"), item("b", "critical")], LOST('""', 2)],
    [{ check: "/0/name", status: "/0/state" }, [item("a", "critical")], "a critical"],
    [{ check: "/0", status: "/1" }, ["a", "critical", "text"], "a critical"],
    [
      { check: "/job", status: "/runs/1/state" },
      { job: "a", runs: [item("x", "critical"), item("y", "ok"), item("z", "ok")] },
      LOST("/runs", 3),
    ],
    [{ check: "/host", status: "/states/0" }, { host: "a", states: ["ok", "critical"] }, LOST("/states", 2)],
    [{ check: "/host", status: "/states/0" }, { host: "a", states: ["critical"] }, "a critical"],
    [{ check: "/names/0", status: "/state" }, { names: ["a", "b"], state: "ok" }, "a ok"],
    [
      { check: "/job", status: "/state", output: "/runs/0/name" },
      { job: "a", state: "ok", runs: [item("x", "ok"), item("y", "ok")] },
      "a ok",
    ],
    [
      { check: "/name", status: "/state", list: "/groups/0/items" },
      { groups: [{ items: [item("a", "ok")] }, { items: [item("b", "critical")] }] },
      NESTED("/groups", 2),
    ],
    [
      { check: "/name", status: "/state", list: "/groups/0/items/0/parts" },
      {
        groups: [
          { items: [{ parts: [item("a", "ok")] }] },
          { items: [{}, { parts: [item("b", "critical")] }] },
        ],
      },
      NESTED("/groups", 2),
    ],
    [
      { check: "/name", status: "/state", list: "/0" },
      [[item("a", "ok")], [item("b", "critical")]],
      NESTED('""', 2),
    ],
    [
      { check: "/items/0/name", status: "/items/0/state", list: "/groups" },
      { groups: [{ items: [item("a", "ok"), item("b", "critical")] }] },
      NESTED("/items", 2),
    ],
    // Others beside it have no list at its place.
    [
      { check: "/name", status: "/state", list: "/1/alerts" },
      [{ version: 3 }, { alerts: [item("a", "critical")] }],
      "a critical",
    ],
    [
      { check: "/name", status: "/state", list: "/groups/0/items" },
      { groups: [{ items: [item("a", "critical")] }, { meta: 1 }, { items: "none" }, []] },
      "a critical",
    ],
    [
      { check: "/name", status: "/state", list: "/1" },
      [{ version: 3 }, [item("a", "critical")]],
      "a critical",
    ],
    [
      { check: "/name", status: "/state", list: "/groups/0/items" },
      { groups: [{ items: [item("a", "critical")] }] },
      "a critical",
    ],
  ])("that a map would read in part is refused: %j", (map, json, expected) => {
    assert.deepStrictEqual(readAs(json, { map }), [expected])
  })

  it.each([
    [{ ok: ["up"], ignore: ["info", "debug"] }, "debug", []],
    [{ ok: ["up"], unknown: ["?"] }, "?", ["a unknown"]],
    [{ ok: ["up"], default: "warning" }, "odd", ["a warning"]],
    [{ ok: ["up"], default: "unknown" }, undefined, ["a unknown"]],
    [{ ok: ["up"], default: "ignore" }, "odd", []],
    [{ ok: ["up"] }, "UP", ["the status at /state must be one of the option values"]],
    [{ ok: ["up"] }, undefined, ["the request body must have a status at /state"]],
  ] satisfies ReadonlyArray<readonly [IntegrationOptions["values"], string | undefined, unknown]>)(
    "with the values %j and the status %j is %j",
    (given, state, expected) => {
      const map = { check: "/name", status: "/state" }
      assert.deepStrictEqual(readAs({ name: "a", state }, { map, ...(given && { values: given }) }), expected)
    },
  )

  it.each([
    [
      // learn.microsoft.com/azure/azure-monitor/alerts/alerts-payload-samples, common schema 1.0.
      {
        map: {
          check: ["/data/essentials/alertRule", "/data/essentials/alertId"],
          status: "/data/essentials/monitorCondition",
          labels: { severity: "/data/essentials/severity" },
        },
        values: { ok: ["Resolved"], critical: ["Fired"] },
      },
      ["Fired", "Resolved"].map((monitorCondition) => ({
        schemaId: "azureMonitorCommonAlertSchema",
        data: {
          essentials: {
            alertId: "/subscriptions/s/providers/Microsoft.AlertsManagement/alerts/b9569717-bc32-442f",
            alertRule: "WCUS-R2-Gen2",
            severity: "Sev3",
            signalType: "Metric",
            monitorCondition,
            alertTargetIDs: ["/subscriptions/s/virtualmachines/a", "/subscriptions/s/virtualmachines/b"],
            description: "",
          },
          alertContext: { condition: { allOf: [{ metricName: "CPU" }, { metricName: "Disk" }] } },
        },
      })),
      ["critical", "ok"],
    ],
    [
      // github.com/netdata/netdata, health/notifications/alarm-notify.sh.in: the words of its status.
      {
        map: { check: ["/host", "/chart", "/name"], status: "/status" },
        values: { ok: ["CLEAR"], warning: ["WARNING"], critical: ["CRITICAL"], default: "unknown" },
      },
      ["WARNING", "CRITICAL", "REMOVED", "UNDEFINED", "CLEAR"].map((status) => {
        return { host: "db1", chart: "system.ram", name: "ram_in_use", status }
      }),
      ["warning", "critical", "unknown", "unknown", "ok"],
    ],
  ] satisfies ReadonlyArray<readonly [IntegrationOptions, ReadonlyArray<object>, ReadonlyArray<string>]>)(
    "of a service is read by the recipe for it: %#",
    (options, bodies, statuses) => {
      const results = bodies.flatMap((body) => resultsOf(read(webhook, body, options)))
      assert.deepStrictEqual(
        results.map(({ status }) => status),
        statuses,
      )
      assert.strictEqual(new Set(results.map(({ check_id }) => check_id)).size, 1)
    },
  )

  it("of another form is refused without a map", () => {
    const reading = read(webhook, { version: "2", alerts: [] })
    assert.strictEqual("refused" in reading && reading.refused, "invalid")
  })
})
