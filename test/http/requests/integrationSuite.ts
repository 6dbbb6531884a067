import { assert } from "@effect/vitest"
import { MAX_SENDER_VALUES } from "@tocsin/contract/v1/decodeRequest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { heartbeatBody, newAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

interface Shown {
  readonly key: string
  readonly urls: ReadonlyArray<string>
}

/** Creates an integration; from then on, nothing may contain its key. */
const created = Effect.fnUntraced(function* (json: object) {
  const answer = yield* operate("POST", "/ops/v1/integrations", { json })
  assert.strictEqual(answer.status, 201, answer.text)
  // An answer of 201 has this shape.
  const shown = answer.body as Shown
  const { observatory } = yield* Tocsin
  observatory.forbid(shown.key)
  return shown
})

/** The answer to a sender: the status, and the text. */
const sent = Effect.fnUntraced(function* (method: string, path: string, body?: string) {
  const answer = yield* call(method, path, body === undefined ? {} : { body })
  return [answer.status, answer.text] as const
})

const checkOf = Effect.fnUntraced(function* (agent: string, check: string) {
  const answer = yield* operate("GET", `/ops/v1/checks?agent_id=${agent}`)
  // The list of the API.
  const { items } = answer.body as { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>> }
  const found = items.find(({ check_id }) => check_id === check)
  return [found?.["status"], found?.["exit_code"], found?.["summary"]]
})

/** Reports of senders that do not speak the API (docs/rules.md#integrations). */
export const integrationSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("pings are results, as Healthchecks takes them", () =>
    Effect.gen(function* () {
      const { key, urls } = yield* created({ name: "cron", kind: "ping" })
      assert.match(key, /^in_[A-Za-z0-9_-]{43}$/)
      assert.deepStrictEqual(urls, [`/in/ping/${key}/CHECK`, `/in/ping/${key}/CHECK/fail`])
      const base = `/in/ping/${key}`
      assert.deepStrictEqual(yield* sent("GET", `${base}/backup`), [200, "OK"])
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), ["ok", 0, undefined])
      assert.deepStrictEqual(yield* sent("POST", `${base}/backup/3`, "disk full\nat 99 %"), [200, "OK"])
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), [
        "critical",
        3,
        "exit 3: at 99 %\ndisk full\nat 99 %",
      ])
      assert.deepStrictEqual(yield* sent("HEAD", `${base}/backup/0/`), [200, ""])
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), ["ok", 0, undefined])
      assert.deepStrictEqual(yield* sent("POST", `${base}/backup/fail`, ""), [200, "OK"])
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), ["critical", 1, "exit status 1"])
      yield* sent("GET", `${base}/backup/7`)
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), ["critical", 7, "exit status 7"])
      yield* sent("POST", `${base}/backup/log`, "no space left")
      yield* sent("GET", `${base}/backup/7`)
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), [
        "critical",
        7,
        "exit 7: no space left\nno space left",
      ])
      assert.deepStrictEqual(yield* sent("POST", `${base}/backup/7?every=soon`, "bad terms"), [
        400,
        "every must be a duration such as 90s, 8h or 7d, from 10s to 31d\nthe failure is stored without these terms; correct them",
      ])
      assert.deepStrictEqual(yield* checkOf("cron", "backup"), [
        "critical",
        7,
        "exit 7: bad terms\nbad terms",
      ])
      const mistyped =
        "the parameter evry is ignored: use every, after, cron, tz, grace, severity, incident, rid, create, status, exit_code, warning"
      for (const name of ["back%75p", "backup"])
        assert.deepStrictEqual(yield* sent("GET", `${base}/${name}/7?evry=1d`), [200, `OK\n${mistyped}`])
      const { key: other } = yield* created({ name: "other", kind: "ping" })
      for (const [query, expected] of [
        ["?create=1/fail", ["critical", 1, "failed: disk\ndisk"]],
        ["?every=1d/fail", ["critical", 1, "failed: disk\ndisk"]],
        ["?status=down", ["critical", 1, "failed: disk\ndisk"]],
        ["?exit_code=3", ["critical", 3, "exit 3: disk\ndisk"]],
      ] as const) {
        assert.deepStrictEqual(yield* sent("POST", `/in/ping/${other}/words${query}`, "disk"), [200, "OK"])
        assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* checkOf("other", "words"), expected)
      }
      const long = `${"äx".repeat(30_000)}\nno space left`
      assert.deepStrictEqual(yield* sent("POST", `/in/ping/${other}/words/1`, long), [200, "OK"])
      const [, , output] = yield* checkOf("other", "words")
      assert.match(
        String(output),
        /^exit 1: no space left\n\.\.\.\[truncated \d+ bytes\]\n[äx]+\nno space left$/,
      )
      const { kept = "", lost } =
        /\[truncated (?<lost>\d+) bytes\]\n(?<kept>[^]*)$/.exec(String(output))?.groups ?? {}
      assert.strictEqual(Number(lost) + Buffer.byteLength(kept), Buffer.byteLength(long))
      assert.strictEqual((yield* sent("POST", `/in/ping/${other}/words/0`, "x".repeat(1_048_576)))[0], 200)
      assert.deepStrictEqual(yield* sent("POST", `/in/ping/${other}/words/0`, "x".repeat(1_048_577)), [
        413,
        "the request body must not be larger than 1 MiB (1048576 bytes)",
      ])
      yield* sent("GET", `/in/ping/${other}/backup/7?evry=1d`)
      assert.include((yield* operate("GET", "/ops/v1/integrations/other")).text, `"message":"${mistyped}"`)
      for (const path of ["/%E9", "/backup/%", "/%zz/fail", "/backup/%C3", "/a%2", "/start/%FF"])
        assert.deepStrictEqual(yield* sent("GET", `${base}${path}`), [404, "not found"], path)
      assert.deepStrictEqual(yield* sent("GET", `/in/push/${key}/%E9`), [
        404,
        '{"ok":false,"msg":"not found"}',
      ])
      const put = [404, "this method is not allowed here; use GET, HEAD, POST"] as const
      assert.deepStrictEqual(yield* sent("PUT", `${base}/backup`, ""), put)
      for (const path of ["", "/", "/fail", "/0", "/log", "/backup/256", "/backup/fail/1", "/backup/x"])
        assert.deepStrictEqual(yield* sent("GET", `${base}${path}`), [404, "not found"], path)
      assert.deepStrictEqual(yield* sent("GET", `/in/push/${key}/backup`), [
        404,
        '{"ok":false,"msg":"not found"}',
      ])
      const refused = yield* sent("GET", `${base}/backup?every=soon`)
      assert.deepStrictEqual(refused[0], 400)
      assert.match(refused[1], /^every must be/)
      const declared = yield* sent("GET", `${base}/backup?every=1d&severity=critical`)
      assert.deepStrictEqual(declared, [200, "OK"])
      const { items } = (yield* operate("GET", "/ops/v1/checks?agent_id=cron")).body as {
        readonly items: ReadonlyArray<{ readonly expected_at: string | null }>
      }
      assert.deepStrictEqual(
        items.map(({ expected_at }) => expected_at?.slice(0, 10)),
        ["2026-03-04"],
      )
    }),
  )

  scenario("an integration of one check has it at the address of its key", () =>
    Effect.gen(function* () {
      const options = { check: "job", methods: ["POST"] }
      const { key } = yield* created({ name: "one", kind: "ping", options })
      assert.deepStrictEqual(yield* sent("POST", `/in/ping/${key}`, ""), [200, "OK"])
      assert.deepStrictEqual(yield* sent("POST", `/in/ping/${key}/fail`, "no"), [200, "OK"])
      assert.deepStrictEqual(yield* checkOf("one", "job"), ["critical", 1, "failed: no\nno"])
      assert.deepStrictEqual(yield* sent("GET", `/in/ping/${key}`), [400, "method not allowed; use POST"])
      assert.strictEqual((yield* call("GET", "/in/webhook")).headers.allow, "POST")
    }),
  )

  scenario("pushes are results, as Uptime Kuma takes them", () =>
    Effect.gen(function* () {
      const { key } = yield* created({ name: "kuma", kind: "push" })
      const base = `/in/push/${key}`
      assert.deepStrictEqual(yield* sent("GET", `${base}/web?status=down&msg=no%20route&ping=12.4`), [
        200,
        '{"ok":true}',
      ])
      assert.deepStrictEqual(yield* checkOf("kuma", "web"), ["critical", 1, "no route"])
      yield* sent("GET", `${base}/web?status=down`)
      assert.deepStrictEqual(yield* checkOf("kuma", "web"), ["critical", 1, 'status "down"'])
      assert.deepStrictEqual(yield* sent("PUT", `${base}/api/push/web?status=up`, ""), [200, '{"ok":true}'])
      assert.deepStrictEqual(yield* checkOf("kuma", "web"), ["ok", 0, undefined])
      for (const query of [
        "status=down&msg=no&ping=rainy",
        "status=down&msg=no&ping=12,5",
        "status=up&msg=OK&ping=?status=down&msg=no&ping=12",
        "status=down&msg=no&ping=3?status=down&msg=no&ping=3",
      ]) {
        yield* sent("GET", `${base}/web`)
        assert.deepStrictEqual(yield* sent("GET", `${base}/web?${query}`), [200, '{"ok":true}'], query)
        assert.deepStrictEqual(yield* checkOf("kuma", "web"), ["critical", 1, "no"], query)
      }
      const [status, text] = yield* sent("GET", `${base}/web?ping=-1`)
      assert.deepStrictEqual(yield* checkOf("kuma", "web"), ["ok", 0, undefined])
      assert.deepStrictEqual([status, text.includes('"ok":false')], [400, true])
    }),
  )

  scenario("keys of agents, operators and integrations open nothing of each other", () =>
    Effect.gen(function* () {
      const { uiToken } = yield* Tocsin
      const { key } = yield* created({ name: "cron", kind: "ping" })
      const agent = newAgent("cron")
      for (const secret of ["in_" + "a".repeat(43), "x", ""])
        assert.deepStrictEqual(yield* sent("GET", `/in/ping/${secret}/backup`), [404, "not found"])
      assert.deepStrictEqual(yield* sent("GET", `/in/ping/${encodeURIComponent(uiToken)}/b`), [
        404,
        "not found",
      ])
      const json = heartbeatBody(agent)
      expectError(yield* call("POST", "/api/v1/heartbeat", { token: key, json }), 401, "unauthorized")
      expectError(yield* call("POST", "/api/v1/heartbeat", { token: agent.key, json }), 409, "conflict")
      expectError(
        yield* operate("POST", "/ops/v1/integrations", { json: { name: "cron", kind: "push" } }),
        409,
        "conflict",
      )
    }),
  )

  scenario("a key that is blocked opens nothing until it is replaced", () =>
    Effect.gen(function* () {
      const { key } = yield* created({ name: "cron", kind: "ping" })
      yield* operate("POST", "/api/v1/agents/cron/block")
      assert.deepStrictEqual(yield* sent("GET", `/in/ping/${key}/backup`), [404, "not found"])
      const path = "/ops/v1/integrations/cron"
      assert.include((yield* operate("GET", path)).text, '"is_closed":true')
      const rotated = yield* operate("POST", `${path}/rotate`, { json: {} })
      const { key: next } = rotated.body as Shown
      assert.deepStrictEqual(yield* sent("GET", `/in/ping/${next}/backup`), [200, "OK"])
      assert.strictEqual((yield* operate("DELETE", path)).text, '{"count":1}')
      assert.deepStrictEqual(yield* sent("GET", `/in/ping/${next}/backup`), [404, "not found"])
      assert.strictEqual((yield* operate("GET", "/api/v1/agents/cron")).status, 404)
    }),
  )

  scenario("requests beyond a check's limit are 429", () =>
    Effect.gen(function* () {
      const { key } = yield* created({ name: "cron", kind: "ping" })
      const statuses: Array<number> = []
      for (let n = 0; n < 22; n++) statuses.push((yield* sent("GET", `/in/ping/${key}/backup`))[0])
      assert.deepStrictEqual(
        statuses.slice(0, 20),
        Array.from({ length: 20 }, () => 200),
      )
      assert.deepStrictEqual(statuses.slice(20), [429, 429])
      assert.strictEqual((yield* sent("GET", `/in/ping/${key}/another`))[0], 200)
    }),
  )

  scenario("alerts are taken as Alertmanager takes them, by a key in any of its places", () =>
    Effect.gen(function* () {
      const { key, urls } = yield* created({ name: "prometheus", kind: "alertmanager" })
      assert.deepStrictEqual(urls, ["/in/alertmanager", `/in/alertmanager/${key}`])
      const path = "/in/alertmanager/api/v2/alerts"
      const labels = { alertname: "HighLoad", team: "db" }
      const ids = new Set<string>()
      const check = Effect.gen(function* () {
        const { items } = (yield* operate("GET", "/ops/v1/checks?agent_id=prometheus")).body as {
          readonly items: ReadonlyArray<{
            readonly check_id: string
            readonly status: string
            readonly labels: object
          }>
        }
        for (const { check_id } of items) ids.add(check_id)
        assert.deepStrictEqual(items[0]?.labels, labels)
        return items[0]?.status
      })
      const answers = [200, "", "critical"]
      const basic = Buffer.from(`anyone:${key}`).toString("base64")
      for (const headers of [{ authorization: `Bearer ${key}` }, { authorization: `Basic ${basic}` }]) {
        const { status, text } = yield* call("POST", path, { json: [{ labels }], headers })
        assert.deepStrictEqual([status, text, yield* check], answers)
      }
      const inPath = `/in/alertmanager/${key}/api/v2/alerts`
      const { status, text } = yield* call("POST", inPath, { json: [{ labels }] })
      assert.deepStrictEqual([status, text, yield* check], answers)
      assert.strictEqual(ids.size, 1)
      assert.include(
        (yield* operate("GET", "/ops/v1/integrations/prometheus")).text,
        '"sources":[{"source":""',
      )
    }),
  )

  scenario("alerts that cannot be read are refused, and the others taken", () =>
    Effect.gen(function* () {
      const { key } = yield* created({ name: "prometheus", kind: "alertmanager" })
      const path = `/in/alertmanager/${key}/api/v2/alerts`
      const bad = Array.from({ length: 12 }, () => 7)
      const mixed = yield* call("POST", path, { json: [...bad, { labels: { alertname: "A" } }] })
      assert.strictEqual(mixed.status, 400)
      assert.deepStrictEqual(
        mixed.text.split("\n"),
        Array.from({ length: 10 }, (_, index) => `alert ${index + 1} must be an object`),
      )
      const { items } = (yield* operate("GET", "/ops/v1/checks?agent_id=prometheus")).body as {
        readonly items: ReadonlyArray<object>
      }
      assert.strictEqual(items.length, 1)
      for (const [body, status] of [
        ["{", 400],
        ["{}", 400],
        ["[]", 200],
        [new Uint8Array([0xff]), 400],
        [" ".repeat(1_048_577), 413],
      ] as const)
        assert.strictEqual((yield* call("POST", path, { body })).status, status)
      const headers = { authorization: `Bearer in_${"a".repeat(43)}` }
      const unknown = yield* call("POST", "/in/alertmanager/api/v2/alerts", { body: "[]", headers })
      assert.deepStrictEqual([unknown.status, unknown.text], [404, "not found"])
      const encoded = yield* call("POST", path, { body: "[]", headers: { "content-encoding": "gzip" } })
      assert.strictEqual(encoded.status, 400)
    }),
  )

  scenario("alerts with more values than any alerts have are refused before they are parsed", () =>
    Effect.gen(function* () {
      for (const [kind, below] of [
        ["alertmanager", "/api/v2/alerts"],
        ["webhook", ""],
      ] as const) {
        const { key } = yield* created({ name: kind, kind })
        const send = (values: number) => {
          const labels = Object.fromEntries(Array.from({ length: values }, (_, n) => [`k${n}`, "v"]))
          const alerts = [{ labels, status: "firing" }]
          const json = kind === "webhook" ? { version: "4", alerts } : alerts
          return call("POST", `/in/${kind}/${key}${below}`, { json })
        }
        assert.strictEqual((yield* send(MAX_SENDER_VALUES - 10)).status, 200)
        const { status, text } = yield* send(MAX_SENDER_VALUES + 1)
        assert.deepStrictEqual(
          [status, text],
          [
            kind === "webhook" ? 422 : 400,
            "the request body must contain at most 50000 values; send fewer alerts in a request",
          ],
        )
      }
    }),
  )

  scenario("a key that a sender repeats is in nothing that is kept of its request", () =>
    Effect.gen(function* () {
      const ALERT = {
        labels: { alertname: "A", instance: "KEY" },
        annotations: { summary: "KEY", description: "at https://tocsin.example.org/in/ping/KEY/a" },
        generatorURL: "http://prom.example.org/in/alertmanager/KEY/graph",
      }
      const ICINGA = { exit_status: 2, plugin_output: "KEY is down", performance_data: ["KEY=1s"] }
      const EVENT = {
        event_action: "trigger",
        dedup_key: "https://tocsin.example.org/KEY",
        payload: { summary: "KEY", severity: "error", source: "KEY", custom_details: { url: "KEY" } },
      }
      const OPTIONS = { map: { check: "/name", status: "/state", output: "/text" } }
      const json = JSON.stringify
      // A key of no integration, too, and as it stands in an address that was encoded, or in a text with escapes.
      for (const other of [undefined, `in_${"a".repeat(43)}`])
        for (const [kind, path, body, options] of [
          ["ping", "/KEY/backup/fail", `${"x".repeat(8_170)}\nPOST /in/ping/KEY/backup failed: HTTP 500`],
          ["ping", "/KEY/backup/1", `copied\nKEY ${"x".repeat(8_170)}`],
          ["ping", "/KEY/other/log?KEY=1", "url=https%3A%2F%2Ftocsin%2Fin%2Fping%2FKEY%2Fbackup"],
          ["push", "/KEY/web?status=down&msg=at%20KEY%20refused&KEY=1", undefined],
          ["alertmanager", "/KEY/api/v2/alerts", json([ALERT]), { group_by: ["instance"] }],
          ["webhook", "/KEY", json({ version: "4", alerts: [{ ...ALERT, status: "firing" }] })],
          ["webhook", "/KEY", json({ name: "KEY", state: "critical", text: "\\nKEY" }), OPTIONS],
          [
            "nrdp",
            "/KEY/",
            `cmd=submitcheck&json=${json({ checkresults: [{ hostname: "KEY", state: 1, output: "KEY" }] })}`,
          ],
          ["icinga", "/KEY/v1/actions/process-check-result?host=KEY", json({ ...ICINGA, exit_status: 1 })],
          ["icinga", "/KEY/v1/actions/process-check-result?service=a!b", json(ICINGA)],
          ["pagerduty", "/KEY/v2/enqueue", json(EVENT)],
          [
            "opsgenie",
            "/KEY/v2/alerts",
            json({ message: "KEY", alias: "KEY", tags: ["url:KEY"], description: "KEY" }),
          ],
        ] as const) {
          const name = `${kind}.${other === undefined ? "own" : "other"}`
          const { key } = yield* created({ name, kind, ...(options !== undefined && { options }) })
          const [, below] = path.split(/^\/KEY/u)
          const shown = (text: string) => text.replaceAll("KEY", other ?? key)
          const answer = yield* call(
            kind === "push" ? "GET" : "POST",
            `/in/${kind}/${key}${shown(below ?? "")}`,
            {
              ...(body !== undefined && { body: shown(body) }),
            },
          )
          assert.include([200, 202], answer.status, `${kind}: ${answer.text}`)
          if (path.includes("/other/log")) yield* call("GET", `/in/ping/${key}/other/fail`)
          const { items } = (yield* operate("GET", `/ops/v1/checks?agent_id=${name}`)).body as {
            readonly items: ReadonlyArray<{ readonly check_id: string }>
          }
          assert.lengthOf(items, 1, name)
          const kept = [
            json(items),
            (yield* operate("GET", `/api/v1/events/query?agent_id=${name}`)).text,
            (yield* operate("GET", `/ops/v1/incidents?agent_id=${name}`)).text,
            (yield* operate("GET", `/ops/v1/integrations/${name}`)).text,
          ].join("\n")
          const plain = [other ?? key, (other ?? key).slice(-20), (other ?? key).slice(0, 30)]
          for (const secret of plain) assert.notInclude(kept, secret, `${name} ${path}`)
          assert.include(kept, "in_***", `${name} ${path}`)
          yield* operate("DELETE", `/ops/v1/integrations/${name}`)
        }
    }),
  )

  scenario("webhooks are read by their form, and other JSON by a map", () =>
    Effect.gen(function* () {
      const options = { map: { check: "/name", status: "/state" }, values: { critical: ["down"] } }
      const { key } = yield* created({ name: "hooks", kind: "webhook", options })
      const token = { headers: { authorization: `Bearer ${key}` } }
      const post = (json: object) => call("POST", "/in/webhook", { json, ...token })
      assert.strictEqual((yield* post({ name: "web", state: "down" })).status, 200)
      assert.deepStrictEqual(yield* checkOf("hooks", "web"), ["critical", 2, 'status "down"'])
      // Senders such as syslog-ng 3.38 repeat a 400 for ever, and drop a 422.
      assert.strictEqual((yield* post({ name: "web", state: "odd" })).status, 422)
      const alerts = [{ status: "firing", labels: { alertname: "A" } }]
      assert.strictEqual((yield* post({ version: "4", alerts })).status, 200)
      assert.strictEqual((yield* call("POST", "/in/webhook", { body: "{", ...token })).status, 422)
      const { status, text } = yield* post({ version: "4", alerts, status: "resolved", truncatedAlerts: 2 })
      assert.deepStrictEqual(
        [status, text],
        [422, "the sender left out alerts (2): set max_alerts of its webhook to 0"],
      )
      const json = { name: "bad", kind: "webhook", options: { watchdog: "W" } }
      const refused = yield* operate("POST", "/ops/v1/integrations", { json })
      assert.include(refused.text, "options.watchdog must be absent: webhook has no such option")
    }),
  )
}
