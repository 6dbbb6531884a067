/// <reference lib="es2024.string" />
import { type RequestKindName, requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import * as fc from "fast-check"
import { addressOf, type Input } from "./Input.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

/** Stands for the key of the integration of a kind, which each server makes; as long as one. */
export const placeholderOf = (kind: RequestKindName): string => `in_${kind.padEnd(43, "-")}`

/** A post of Monit about one service. */
export const monitPost = (name: string, status: number): string =>
  `<?xml version="1.0" encoding="ISO-8859-1"?><monit id="1"><server><poll>60</poll><localhostname>db1</localhostname></server><services><service name="${name}"><type>3</type><status>${status}</status><status_hint>0</status_hint><monitor>1</monitor></service></services></monit>`

/** The options with which an integration of each kind reads most. */
export const SENDER_OPTIONS: Readonly<Record<RequestKindName, object>> = {
  ping: {},
  push: {},
  alertmanager: { group_by: ["team"], watchdog: "Watchdog" },
  webhook: { map: { check: "/check", status: "/state", output: "/text" } },
  nrdp: {},
  icinga: {},
  sentry: {},
  monit: {},
  pagerduty: { severity: { info: "ignore" } },
  opsgenie: { heartbeat_after: "1h" },
}

const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "Watchdog",
    "critical",
    "ok",
    "info",
    "0001-01-01T00:00:00Z",
    "2999-01-01T00:00:00+05:00",
  ),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
)
const labels = fc.dictionary(
  fc.oneof(fc.constantFrom("alertname", "severity", "team", "__proto__"), text),
  text,
  {
    maxKeys: 5,
  },
)
const alert = fc.record(
  {
    labels: fc.oneof({ weight: 9, arbitrary: labels }, fc.json()),
    annotations: fc.dictionary(fc.constantFrom("summary", "description", "runbook_url"), text),
    endsAt: text,
    generatorURL: fc.oneof(text, fc.webUrl()),
    status: fc.constantFrom("firing", "resolved", "odd"),
  },
  { requiredKeys: [] },
)
const alerts = fc.array(fc.oneof({ weight: 9, arbitrary: alert }, fc.jsonValue()), { maxLength: 4 })
const json = fc.oneof(
  alerts,
  fc.record({ version: fc.constantFrom("4", "1", 4), alerts }),
  fc.record({ check: text, state: text, text }),
  fc.record({
    status: fc.constantFrom("ok", "error", "in_progress", "odd"),
    check_in_id: text,
    monitor_config: fc.oneof(
      fc.record({
        schedule: fc.record({ type: fc.constantFrom("crontab", "interval"), value: fc.jsonValue() }),
      }),
      fc.jsonValue(),
    ),
  }),
  fc.record(
    {
      routing_key: fc.constantFrom(placeholderOf("pagerduty"), "x"),
      event_action: fc.constantFrom("trigger", "acknowledge", "resolve", "odd"),
      dedup_key: fc.oneof(fc.constantFrom("a", "heartbeat:a"), text),
      payload: fc.record({ summary: text, severity: text, custom_details: fc.jsonValue() }),
      alias: fc.oneof(fc.constant("a"), text),
      message: text,
      note: text,
      tags: fc.array(text, { maxLength: 2 }),
      details: labels,
    },
    { requiredKeys: ["event_action", "message"] },
  ),
  fc.jsonValue(),
)

const name = fc.oneof(
  fc.constantFrom("backup", "web", "a%20b", "%ff", "%2e%2e", "x".repeat(200)),
  fc.webPath(),
)
const word = fc.constantFrom("", "/", "/fail", "/start", "/log", "/0", "/255", "/256", "/x")
const parameter = fc.constantFrom(
  "every=1d", "every=soon", "cron=0%203%20*%20*%20*", "tz=Europe/Berlin", "grace=30m", "severity=critical", "after=1s",
  "rid=01890a5d-ac96-774b-bcce-b302099a8057", "rid=x", "status=down", "status=up", "msg=%00%ff", "ping=12.5", "ping=-1",
) // oxfmt-ignore

const targetOf = (kind: RequestKindName): fc.Arbitrary<string> => {
  const key = placeholderOf(kind)
  const query = fc
    .array(parameter, { maxLength: 3 })
    .map((all) => (all.length === 0 ? "" : `?${all.join("&")}`))
  switch (kind) {
    case "ping":
    case "push":
      return fc
        .tuple(fc.constantFrom("", "/api/push"), name, word, query)
        .map(([before, check, after, given]) => `/in/${kind}/${key}${before}/${check}${after}${given}`)
    case "alertmanager":
      return fc.constantFrom(
        `/in/${kind}/api/v2/alerts`,
        `/in/${kind}/${key}/api/v2/alerts`,
        `/in/${kind}/${key}`,
      )
    case "icinga":
      return fc
        .tuple(
          fc.constantFrom("", `/${key}`),
          fc.constantFrom("", "?service=a!b", "?host=a", "?host=a!b", "?ttl=x"),
        )
        .map(([before, query]) => `/in/${kind}${before}/v1/actions/process-check-result${query}`)
    case "nrdp":
      return fc.constantFrom(
        `/in/${kind}/`,
        `/in/${kind}/${key}/`,
        `/in/${kind}/?token=${key}&cmd=submitcheck`,
      )
    case "monit":
      return fc.constantFrom(`/in/${kind}/collector`, `/in/${kind}/${key}/collector`, `/in/${kind}/${key}/x`)
    case "sentry":
      return fc
        .tuple(
          fc.constantFrom(
            "1/envelope",
            "1/store",
            "1/cron/a",
            "0/monitors/a/checkins",
            "0/monitors/a/checkins/b",
          ),
          fc.constantFrom(
            "",
            "?status=ok",
            "?status=in_progress",
            "?status=odd",
            "?environment=%00&status=error",
          ),
        )
        .map(([path, given]) => `/in/${kind}/${key}/api/${path}/${given}`)
    case "webhook":
      return fc.constantFrom(`/in/${kind}`, `/in/${kind}/${key}`, `/in/${kind}/${key}/x`)
    case "pagerduty":
      return fc.constantFrom(
        `/in/${kind}/v2/enqueue`,
        `/in/${kind}/${key}/v2/enqueue`,
        `/in/${kind}/${key}/v2/change/enqueue`,
      )
    case "opsgenie":
      return fc
        .tuple(
          fc.constantFrom("alerts", "alerts/requests", "heartbeats", "x"),
          fc.oneof(fc.constantFrom("a", "a%2Fb", "%25", "01890a5d-ac96-774b-bcce-b302099a8057"), name),
          fc.constantFrom(
            "",
            "/close",
            "/acknowledge",
            "/unacknowledge",
            "/notes",
            "/message",
            "/ping",
            "/x",
          ),
          fc.constantFrom("", "?identifierType=alias", "?identifierType=%00", "?every=soon"),
        )
        .map(([subject, id, after, given]) => `/in/${kind}/${key}/v2/${subject}/${id}${after}${given}`)
  }
}

/** Behind the addresses of other inputs, of which there are fewer. */
const FIRST_ADDRESS = 65_536

const xml = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<checkresults>", "</checkresults>", "<checkresult type='service'>", "</checkresult>", "<state>2</state>",
        "<hostname>a</hostname>", "<servicename>b</servicename>", "<output>", "</output>", "<![CDATA[", "]]>", "<!--",
        "&amp;", "&#0;", "&#x10ffff;", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<?xml version='1.0'?>", "<a b='", "/>",
      ), // oxfmt-ignore
      text,
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""))
const result = fc.record(
  { hostname: text, servicename: text, state: fc.constantFrom(0, 2, "3", 7, null), output: text, time: text },
  { requiredKeys: [] },
)
const results = fc.record({ checkresults: fc.array(fc.oneof(result, fc.jsonValue()), { maxLength: 4 }) })

/** Forms of NRDP's senders: with the token, as XML or JSON, encoded or as they are. */
const formOf = (key: string) =>
  fc
    .tuple(
      fc.constantFrom(`token=${key}&`, `token=${key}&`, "token=x&", ""),
      fc.constantFrom("cmd=submitcheck&", "cmd=hello&", ""),
      fc.oneof(
        fc.tuple(fc.constantFrom("xml=", "XMLDATA="), xml),
        fc.tuple(
          fc.constantFrom("json=", "JSONDATA="),
          fc.oneof(results, fc.jsonValue()).map((value) => JSON.stringify(value)),
        ),
      ),
      fc.boolean(),
    )
    .map(([token, command, [name, value], isEncoded]) => {
      const data = isEncoded ? encodeURIComponent(value.toWellFormed()) : value
      return Buffer.from(`${token}${command}${name}${data}`).toString("latin1")
    })

const icingaResult = fc.record(
  {
    type: fc.constantFrom("Service", "Host", "host", 7),
    filter: fc.oneof(
      fc.constantFrom(
        'host.name=="a"', 'host.name=="a\\"" && service.name==b', "service.name==a&&host.name==b", 'match("*", host.name)',
        'host.name=="a" || host.name=="b"', 'host.name=="a" && host.name=="b"', 'host.name==', "x".repeat(5_000),
      ), // oxfmt-ignore
      text,
    ),
    filter_vars: fc.oneof(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), text), fc.jsonValue()),
    exit_status: fc.constantFrom(0, 1, 2, 3, 4, -1, 1.5, "2", "", null),
    plugin_output: fc.oneof(text, fc.jsonValue()),
    performance_data: fc.oneof(fc.array(fc.oneof(text, fc.constant("a b=1;2;3"))), text, fc.jsonValue()),
    execution_end: fc.constantFrom(0, 1_772_539_200.5, 1e300, "soon"),
    ttl: fc.constantFrom(0, -1, 60, 1e300, "90", "x"),
  },
  { requiredKeys: [] },
)

const bodyOf = (kind: RequestKindName): fc.Arbitrary<string> => {
  if (kind === "nrdp") return formOf(placeholderOf(kind))
  const bodies = kind === "icinga" ? fc.oneof({ weight: 9, arbitrary: icingaResult }, fc.jsonValue()) : json
  return bodies.map((value) => Buffer.from(JSON.stringify(value)).toString("latin1"))
}

const requestOf = (kind: RequestKindName): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom("POST", "POST", "GET", "HEAD", "PUT"),
      targetOf(kind),
      fc.constantFrom("", `Authorization: Bearer ${placeholderOf(kind)}\r\n`),
      bodyOf(kind),
    )
    .map(([method, target, authorization, body]) => {
      const framed =
        method === "GET" || method === "HEAD" ? "\r\n" : `Content-Length: ${body.length}\r\n\r\n${body}`
      return `${method} ${target} HTTP/1.1\r\nHost: fuzz\r\n${authorization}${framed}`
    })

/** Keys that are pressed in calls that were never made, and the links of messages. */
const pressed = fc
  .tuple(
    fc.constantFrom("POST", "POST", "GET", "PUT"),
    fc.oneof(fc.constantFrom("0f".repeat(48), "x", "%00", ".."), fc.stringMatching(/^[0-9a-f]{94,98}$/)),
    fc.constantFrom("/call", "/call", "", "/call/"),
    fc.oneof(fc.constantFrom("Digits=1", "Digits=%", "=", '{"Digits":"1"}', "Digits=1&".repeat(9_000)), text),
  )
  .map(([method, token, after, form]) => {
    const body = Buffer.from(form).toString("latin1")
    return `${method} /a/${token}${after} HTTP/1.1\r\nHost: fuzz\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  })

/** Requests of senders to an integration of every kind, and of telephone services. */
export const sendersRequests = (options: {
  readonly seed: number
  readonly count: number
}): ReadonlyArray<Input> =>
  fc
    .sample(fc.oneof(...requestKindNames.map(requestOf), pressed), {
      seed: options.seed,
      numRuns: options.count,
    })
    .map((text, index) => {
      const field = `x-forwarded-for: ${addressOf(FIRST_ADDRESS + index)}\r\n`
      return { writes: [text.replace("\r\n", `\r\n${field}`)] }
    })
