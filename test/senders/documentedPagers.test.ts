// Requests to paging services as senders make them, read at their sources in November 2026, with the answer by
// which each stops, repeats or gives up.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { addIntegration, OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const opened = Effect.fnUntraced(function* (server: ServerProcess, name: string, kind: string) {
  const key = yield* addIntegration(server, { name, kind })
  const send = (method: string, path: string, json?: object, authorization?: string) =>
    Effect.promise(async (): Promise<Answer> => {
      const answer = await fetch(`${server.baseUrl}/in/${kind}${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          ...(authorization !== undefined && { authorization }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      })
      return { status: answer.status, body: JSON.parse(await answer.text()) }
    })
  const listed = Effect.map(operate(server, "GET", `/ops/v1/checks?agent_id=${name}`), ({ text: given }) =>
    (JSON.parse(given) as { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>> }).items.map(
      ({ check_id, status, summary }) => `${check_id} ${status}: ${String(summary).split("\n")[0]}`,
    ),
  )
  return { key, send, listed }
})

const RESULT = { result: "Request will be processed", took: 0 }

/** github.com/zabbix/zabbix, templates/media/opsgenie/media_opsgenie.yaml (7.0): it polls until `data` is there. */
const zabbixOpsgenie = Effect.fnUntraced(function* (server: ServerProcess) {
  const { key, listed, send } = yield* opened(server, "zabbix-opsgenie", "opsgenie")
  const genie = `GenieKey ${key}`
  const created = yield* send(
    "POST",
    "/v2/alerts/",
    {
      message: "Problem: Disk space is low",
      alias: "4711",
      description: "Problem started at 10:00:00",
      priority: "P2",
      source: "Zabbix",
      details: {
        "Zabbix server": "https://zabbix.example/",
        Problem: "https://zabbix.example/tr_events.php",
      },
      tags: ["scope:capacity", "component:storage"],
    },
    genie,
  )
  assert.deepInclude(created.body, RESULT)
  // Any answer but 202 fails the action.
  assert.strictEqual(created.status, 202)
  const outcomeOf = (answer: Answer) =>
    send("GET", `/v2/alerts/requests/${String(answer.body["requestId"])}`, undefined, genie)
  const { body, status } = yield* outcomeOf(created)
  assert.strictEqual(status, 200)
  assert.deepInclude(Object(body["data"]), { success: true, alias: "4711" })
  assert.match(String(Object(body["data"]).alertId), /^[0-9a-f-]{36}$/)
  for (const method of ["acknowledge", "notes", "unacknowledge", "close"]) {
    const fields = { user: "Zabbix Administrator", note: "ann acknowledged problem" }
    const done = yield* send("POST", `/v2/alerts/4711/${method}?identifierType=alias`, fields, genie)
    assert.strictEqual(done.status, 202, method)
    assert.deepInclude(Object((yield* outcomeOf(done)).body["data"]), { success: true }, method)
  }
  assert.deepStrictEqual(yield* listed, ["4711 ok: ann acknowledged problem"])
})

/** github.com/zabbix/zabbix, templates/media/pagerduty: it throws unless the answer is 202 and says success. */
const zabbixPagerDuty = Effect.fnUntraced(function* (server: ServerProcess) {
  const { key, listed, send } = yield* opened(server, "zabbix-pagerduty", "pagerduty")
  const event = (event_action: string, more: object = {}) =>
    send("POST", "/v2/enqueue", { routing_key: key, dedup_key: "4711", event_action, ...more })
  const trigger = {
    payload: {
      summary: "Problem: Disk space is low",
      source: "db-1 : 10.0.0.7",
      severity: "error",
      custom_details: { "Event tags": "scope:capacity", "Event host": "db-1" },
    },
    links: [{ href: "https://zabbix.example/tr_events.php?triggerid=7&eventid=4711", text: "Event link" }],
    client: "Zabbix",
    client_url: "https://zabbix.example",
  }
  for (const answer of [
    yield* event("trigger", trigger),
    yield* event("acknowledge"),
    yield* event("resolve"),
  ])
    assert.deepStrictEqual(answer, {
      status: 202,
      body: { status: "success", message: "Event processed", dedup_key: "4711" },
    })
  // Its message on a failure is the first of `errors`.
  const bad = yield* event("snooze")
  assert.deepStrictEqual([bad.status, bad.body["status"]], [400, "invalid event"])
  assert.deepStrictEqual(bad.body["errors"], ["event_action must be trigger, acknowledge or resolve"])
  assert.match(String((yield* listed)[0]), /^4711 ok/)
})

/** github.com/grafana/alerting, receivers/opsgenie/v1 and receivers/pagerduty/v1: any 2xx is a success. */
const grafana = Effect.fnUntraced(function* (server: ServerProcess) {
  const opsgenie = yield* opened(server, "grafana-opsgenie", "opsgenie")
  const genie = `GenieKey ${opsgenie.key}`
  const alias = "9e8c2f0d".repeat(8)
  const alert = {
    alias,
    description: "[FIRING:1] Latency",
    tags: ["alertname:Latency", "team:web"],
    source: "Grafana",
    message: "[FIRING:1] Latency Shop (web)",
    details: { url: "https://grafana.example/alerting/list", alertname: "Latency" },
    priority: "",
  }
  assert.strictEqual((yield* opsgenie.send("POST", "/v2/alerts", alert, genie)).status, 202)
  const close = `/v2/alerts/${alias}/close?identifierType=alias`
  assert.strictEqual((yield* opsgenie.send("POST", close, { source: "Grafana" }, genie)).status, 202)
  assert.match(String((yield* opsgenie.listed)[0]), new RegExp(`^${alias} ok`))
  const pagerduty = yield* opened(server, "grafana-pagerduty", "pagerduty")
  const event = (event_action: string) => ({
    routing_key: pagerduty.key,
    dedup_key: alias,
    event_action,
    payload: { source: "grafana", component: "Grafana", summary: "[FIRING:1] Latency", severity: "critical" },
    links: [{ href: "https://grafana.example/", text: "External URL" }],
  })
  for (const action of ["trigger", "resolve"])
    assert.strictEqual((yield* pagerduty.send("POST", "/v2/enqueue", event(action))).status, 202)
  assert.deepStrictEqual(yield* pagerduty.listed, [`${alias} ok: [FIRING:1] Latency`])
})

/** github.com/louislam/uptime-kuma, server/notification-providers/pagerduty.js: no source for some monitors. */
const uptimeKuma = Effect.fnUntraced(function* (server: ServerProcess) {
  const { key, listed, send } = yield* opened(server, "kuma", "pagerduty")
  const event = (title: string, event_action: string) => ({
    payload: { summary: `[Uptime Kuma Monitor ${title}] [web] timeout`, severity: "warning" },
    routing_key: key,
    event_action,
    dedup_key: "Uptime Kuma/1",
  })
  assert.strictEqual((yield* send("POST", "/v2/enqueue", event("🔴 Down", "trigger"))).status, 202)
  assert.match(String((yield* listed)[0]), /^Uptime_Kuma_1\.[0-9a-f]{12} warning/)
  assert.strictEqual((yield* send("POST", "/v2/enqueue", event("✅ Up", "resolve"))).status, 202)
  assert.match(String((yield* listed)[0]), /^Uptime_Kuma_1\.[0-9a-f]{12} ok/)
})

/** github.com/TwiN/gatus, alerting/provider: it resolves with the dedup_key of the answer, and creates before it closes. */
const gatus = Effect.fnUntraced(function* (server: ServerProcess) {
  const pagerduty = yield* opened(server, "gatus-pagerduty", "pagerduty")
  const event = (dedup_key: string, event_action: string, summary: string) =>
    pagerduty.send("POST", "/v2/enqueue", {
      routing_key: pagerduty.key,
      dedup_key,
      event_action,
      payload: { summary, source: "Gatus", severity: "critical" },
    })
  const { body } = yield* event("", "trigger", "TRIGGERED: shop/web - down")
  yield* event(String(body["dedup_key"]), "resolve", "RESOLVED: shop/web - down")
  assert.match(String((yield* pagerduty.listed)[0]), /^[0-9a-f]{32} ok: RESOLVED/)
  const opsgenie = yield* opened(server, "gatus-opsgenie", "opsgenie")
  const genie = `GenieKey ${opsgenie.key}`
  const alias = "gatus-healthcheck-shop-web"
  for (const message of ["[shop] web - down", "[shop] RESOLVED: web - down"])
    yield* opsgenie.send("POST", "/v2/alerts", { message, alias, priority: "P1", details: {} }, genie)
  const close = `/v2/alerts/${alias}/close?identifierType=alias`
  yield* opsgenie.send("POST", close, { source: "shop-web", note: "RESOLVED: web - down" }, genie)
  assert.deepStrictEqual(yield* opsgenie.listed, [`${alias} ok: RESOLVED: web - down`])
})

/** docs.opsgenie.com/docs/heartbeat-api: GET or POST, with the key as GenieKey. */
const heartbeats = Effect.fnUntraced(function* (server: ServerProcess) {
  const { key, listed, send } = yield* opened(server, "heartbeats", "opsgenie")
  for (const method of ["GET", "POST"]) {
    const { body, status } = yield* send(method, "/v2/heartbeats/nightly/ping", undefined, `GenieKey ${key}`)
    const { requestId, ...others } = body
    assert.deepStrictEqual([status, others], [202, { result: "PONG - Heartbeat received", took: 0 }])
    assert.match(String(requestId), /^[\w-]{20,}$/)
  }
  assert.match(String((yield* listed)[0]), /^heartbeat:nightly ok/)
  const unknown = yield* send(
    "GET",
    "/v2/heartbeats/nightly/ping",
    undefined,
    `GenieKey in_${"a".repeat(43)}`,
  )
  assert.deepStrictEqual(unknown, { status: 404, body: { message: "not found", took: 0 } })
})

describe("documented senders of paging services", () => {
  it.live("are answered so that each goes on as with the service", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const server = yield* startServer({ cwd, environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN } })
      const all = [zabbixOpsgenie, zabbixPagerDuty, grafana, uptimeKuma, gatus, heartbeats]
      yield* Effect.forEach(all, (plays) => plays(server), { concurrency: "unbounded" })
    }),
  )
})
