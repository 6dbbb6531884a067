import type { RequestKindName } from "@tocsin/contract/integrations/integrationKinds"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { monitPost, SENDER_OPTIONS } from "../../fuzz/senders.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { type Call, call, operate } from "./call.ts"

/** A request of a sender: its method, its path without `/in/KIND`, and the rest. */
export type Sent = readonly [method: string, path: string, made?: Call]

interface Sender {
  /** The text of a success: each sends again, or drops, whatever has another answer. */
  readonly success: RegExp
  /** Requests that report a bad result of a check each, by each way that the kind knows. */
  readonly reports: (key: string, check: string) => ReadonlyArray<Sent>
  /** Requests that can never succeed. */
  readonly hopeless: (key: string) => ReadonlyArray<Sent>
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const alert = (alertname: string) => ({ labels: { alertname }, status: "firing" })
export const alerts = (...names: ReadonlyArray<string>) => names.map(alert)
const UNKNOWN = `in_${"a".repeat(43)}`
const NOT_UTF8 = new Uint8Array([0xff])
const TOO_LARGE = " ".repeat(1_048_577)
const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`

const event = (dedup_key: string) => ({
  event_action: "trigger",
  dedup_key,
  payload: { summary: "disk full", source: "db-1", severity: "critical" },
})
const opsgenieAlert = (alias: string) => ({ alias, message: "disk full", priority: "P1" })

const badBodies = (path: string, headers: Call["headers"] = {}): ReadonlyArray<Sent> =>
  [NOT_UTF8, TOO_LARGE, DEEP, "", "{", "7", "null", "{}", "[7]", '[{"labels":{}}]'].map((body) => [
    "POST",
    path,
    { body, headers },
  ])

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`icinga:${key}`).toString("base64")}` })
const ICINGA = "/v1/actions/process-check-result"
const DOWN = { exit_status: 1, plugin_output: "down" }

const results = (...hosts: ReadonlyArray<string>) =>
  JSON.stringify({ checkresults: hosts.map((hostname) => ({ hostname, state: 1, output: "down" })) })

const envelope = (monitor_slug: string): string =>
  `{"sdk":{"name":"sentry.javascript.node"}}\n{"type":"check_in"}\n${JSON.stringify({ monitor_slug, status: "error" })}`

/** A form of NRDP, as its senders fill it in. */
const form = (fields: Readonly<Record<string, string>>): Call => ({
  body: new URLSearchParams({ cmd: "submitcheck", ...fields }).toString(),
})

/** The requests of each kind of sender, and the answer that it takes for a success. */
export const SENDERS: Readonly<Record<RequestKindName, Sender>> = {
  ping: {
    success: /^OK$/,
    reports: (key, check) => [
      ["GET", `/${key}/${check}-get/fail`],
      ["POST", `/${key}/${check}-post/3?every=1d`, { body: "disk full" }],
    ],
    hopeless: (key) => [
      ["GET", ""],
      ["GET", `/${UNKNOWN}/job`],
      ["GET", `/${key}`],
      ["GET", `/${key}/start`],
      ["GET", `/${key}/job/256`],
      ["GET", `/${key}/job?every=1`],
      ["POST", `/${key}/job?every=soon`, { body: "x" }],
      ["GET", `/${key}/job?cron=0%203&tz=Nowhere`],
      ["PUT", `/${key}/job`, { body: "" }],
    ],
  },
  push: {
    success: /^\{"ok":true\}$/,
    reports: (key, check) => [
      ["GET", `/${key}/${check}-get?status=down`],
      ["POST", `/${key}/api/push/${check}-post?status=down&msg=no`, { body: "" }],
    ],
    hopeless: (key) => [
      ["GET", ""],
      ["GET", `/${UNKNOWN}/web`],
      ["GET", `/${key}`],
      ["GET", `/${key}/a/b`],
      ["GET", `/${key}/web?ping=-1`],
      ["GET", `/${key}/web?ping=86400001`],
    ],
  },
  alertmanager: {
    success: /^$/,
    reports: (key, check) => [
      ["POST", "/api/v2/alerts", { json: alerts(`${check}-header`), headers: bearer(key) }],
      ["POST", `/${key}/api/v2/alerts`, { json: alerts(`${check}-path`) }],
    ],
    hopeless: (key) => [
      ...badBodies("/api/v2/alerts", bearer(key)),
      ["POST", `/${UNKNOWN}/api/v2/alerts`, { json: [] }],
      ["POST", `/${key}/api/v1/alerts`, { json: [] }],
      ["POST", `/${key}/api/v2/alerts`, { json: [], headers: { "content-encoding": "gzip" } }],
      ["POST", `/${key}/api/v2/alerts`, { json: alerts(...Array.from({ length: 10_001 }, () => "A")) }],
      ["GET", `/${key}/api/v2/alerts`],
    ],
  },
  webhook: {
    success: /^$/,
    reports: (key, check) => [
      ["POST", "", { json: { version: "4", alerts: alerts(`${check}-header`) }, headers: bearer(key) }],
      ["POST", `/${key}`, { json: { check: `${check}-map`, state: "critical", text: "full" } }],
    ],
    hopeless: (key) => [
      ...badBodies("", bearer(key)),
      ["POST", `/${UNKNOWN}`, { json: {} }],
      ["POST", `/${key}/more`, { json: {} }],
      ["POST", `/${key}`, { json: { version: "4", alerts: [7] } }],
      ["POST", `/${key}`, { json: { check: "a", state: "odd" } }],
      ["PUT", `/${key}`, { json: {} }],
    ],
  },
  icinga: {
    success: /^\{"results":\[\{"code":200,"status":"Successfully processed /,
    reports: (key, check) => [
      ["POST", `${ICINGA}?service=${check}!a`, { json: { ...DOWN, exit_status: 2 }, headers: basic(key) }],
      ["POST", `/${key}${ICINGA}`, { json: { ...DOWN, type: "Host", filter: `host.name=="${check}"` } }],
    ],
    hopeless: (key) => [
      ...badBodies(ICINGA, bearer(key)),
      ["POST", `/${UNKNOWN}${ICINGA}?host=a`, { json: DOWN }],
      [
        "POST",
        `/${key}${ICINGA}`,
        { json: { ...DOWN, type: "Service", filter: 'match("*", service.name)' } },
      ],
      ["POST", `/${key}${ICINGA}?host=a`, { json: { ...DOWN, exit_status: 2 } }],
      ["POST", `/${key}${ICINGA}?host=a`, { json: { exit_status: 1 } }],
      ["POST", `/${key}/v1/actions/reschedule-check?host=a`, { json: DOWN }],
      ["GET", `/${key}/v1/status`],
    ],
  },
  nrdp: {
    success: /^\{"result":\{"status":0,"message":"OK",/,
    reports: (key, check) => [
      ["POST", "/", form({ token: key, json: results(`${check}-form`) })],
      ["POST", `/${key}/`, form({ JSONDATA: results(`${check}-path`) })],
      ["GET", `/?token=${key}&cmd=submitcheck&json=${encodeURIComponent(results(`${check}-query`))}`],
    ],
    hopeless: (key) => [
      ["POST", "/", form({ token: UNKNOWN, json: results("a") })],
      ["POST", `/${UNKNOWN}/`, form({ json: results("a") })],
      ["POST", "/", form({ json: results("a") })],
      ["POST", "/", form({ token: key })],
      ["POST", "/", form({ token: key, cmd: "hello", json: results("a") })],
      ["POST", "/", form({ token: key, json: "{" })],
      ["POST", "/", form({ token: key, json: DEEP })],
      ["POST", "/", form({ token: key, xml: "<a>".repeat(100_000) })],
      ["POST", "/", form({ token: key, xml: "<!DOCTYPE a><a/>" })],
      ["POST", "/", form({ token: key, xml: "<a><checkresult><hostname>b</hostname></checkresult></a>" })],
      ["POST", "/", { body: `token=${key}&cmd=submitcheck&xml=${TOO_LARGE}` }],
      ["POST", "/more", form({ token: key, json: results("a") })],
      ["GET", "/"],
    ],
  },
  sentry: {
    success: /^\{(?:"id":"[0-9a-f]{32}")?\}$/,
    reports: (key, check) => [
      ["POST", `/${key}/api/1/envelope/?sentry_key=tocsin`, { body: envelope(`${check}-plain`) }],
      // As the SDK for Python (1.9.10) sends every envelope.
      [
        "POST",
        `/${key}/api/1/envelope/`,
        { body: [gzipSync(envelope(`${check}-gzip`))], headers: { "content-encoding": "gzip" } },
      ],
      ["GET", `/${key}/api/1/cron/${check}-url/tocsin/?status=error`],
      [
        "POST",
        `/${key}/api/0/organizations/acme/monitors/${check}-rest/checkins/`,
        { json: { status: "error" } },
      ],
    ],
    hopeless: (key) => [
      ["POST", `/${UNKNOWN}/api/1/envelope/`, { body: envelope("a") }],
      ["POST", `/${key}/api/1/envelope/`, { body: "{", headers: { "content-encoding": "gzip" } }],
      [
        "POST",
        `/${key}/api/1/envelope/`,
        { body: [gzipSync(TOO_LARGE)], headers: { "content-encoding": "gzip" } },
      ],
      ["POST", `/${key}/api/1/envelope/`, { body: envelope("a").replace('"error"', '"odd"') }],
      ["POST", `/${key}/api/1/envelope/`, { body: `{}\n{"type":"check_in"}\n{` }],
      ["POST", `/${key}/api/1/envelope/x`, { body: envelope("a") }],
      ["GET", `/${key}/api/1/cron/a/?status=odd`],
      ["GET", `/${key}/api/1/monitors/a/checkins/?status=ok`],
      ["DELETE", `/${key}/api/1/cron/a/?status=ok`],
    ],
  },
  monit: {
    success: /^$/,
    reports: (key, check) => [
      ["POST", "/collector", { body: monitPost(`${check}-header`, 512), headers: basic(key) }],
      ["POST", `/${key}/collector`, { body: monitPost(`${check}-path`, 32) }],
    ],
    hopeless: (key) => [
      ...badBodies("/collector", basic(key)),
      ["POST", `/${UNKNOWN}/collector`, { body: monitPost("a", 512) }],
      ["POST", `/${key}/collector`, { body: "<!DOCTYPE a><a/>" }],
      ["POST", `/${key}/collector`, { body: "<monit/>" }],
      ["POST", `/${key}`, { body: monitPost("a", 512) }],
      ["GET", `/${key}/collector`],
    ],
  },
  pagerduty: {
    success: /^\{"status":"success","message":"Event processed","dedup_key":"[^"]+"\}$/,
    reports: (key, check) => [
      ["POST", "/v2/enqueue", { json: { ...event(`${check}-body`), routing_key: key } }],
      ["POST", `/${key}/v2/enqueue`, { json: event(`${check}-path`) }],
    ],
    hopeless: (key) => [
      ...badBodies("/v2/enqueue"),
      ...badBodies(`/${key}/v2/enqueue`),
      ["POST", "/v2/enqueue", { json: { ...event("a"), routing_key: UNKNOWN } }],
      ["POST", `/${UNKNOWN}/v2/enqueue`, { json: event("a") }],
      ["POST", `/${key}/v2/enqueue`, { json: { ...event("a"), event_action: "snooze" } }],
      ["POST", `/${key}/v1/enqueue`, { json: event("a") }],
      ["GET", `/${key}/v2/enqueue`],
    ],
  },
  opsgenie: {
    success: /^\{"result":"Request will be processed","took":0,"requestId":"[\w-]+"\}$/,
    reports: (key, check) => [
      [
        "POST",
        "/v2/alerts",
        { json: opsgenieAlert(`${check}-header`), headers: { authorization: `GenieKey ${key}` } },
      ],
      ["POST", `/${key}/v2/alerts/`, { json: opsgenieAlert(`${check}-path`) }],
    ],
    hopeless: (key) => [
      ...badBodies("/v2/alerts", { authorization: `GenieKey ${key}` }),
      ["POST", `/${UNKNOWN}/v2/alerts`, { json: opsgenieAlert("a") }],
      ["POST", `/${key}/v2/alerts/a/close`, { json: {} }],
      ["POST", `/${key}/v2/alerts/a/snooze?identifierType=alias`, { json: {} }],
      ["GET", `/${key}/v2/alerts/requests/x`],
      ["GET", `/${key}/v2/heartbeats/job/ping?every=soon`],
      ["DELETE", `/${key}/v2/alerts/a`],
    ],
  },
}

/** Whether a sender of a kind takes an answer for a success. */
export const isSuccess = (
  kind: RequestKindName,
  { status, text }: { readonly status: number; readonly text: string },
): boolean => {
  const { success } = SENDERS[kind]
  return [200, 202].includes(status) && success.test(text)
}

/**
 * Whether a sender makes a request again for its status: curl with --retry, runitor, the webhooks of Alertmanager
 * and Grafana. Prometheus and vmalert send firing alerts again for any status, and nothing else.
 */
export const isRetried = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500

/** Creates an integration of a kind; from then on, nothing may contain its key. */
export const created = Effect.fnUntraced(function* (
  kind: RequestKindName,
  options: object = SENDER_OPTIONS[kind],
) {
  const answer = yield* operate("POST", "/ops/v1/integrations", { json: { name: kind, kind, options } })
  // An answer of 201 has this shape.
  const { key } = answer.body as { readonly key: string }
  ;(yield* Tocsin).observatory.forbid(key)
  return key
})

export const send = Effect.fnUntraced(function* (kind: RequestKindName, [method, path, made]: Sent) {
  return yield* call(method, `/in/${kind}${path}`, made)
})
