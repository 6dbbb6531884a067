import { assert, describe, it } from "@effect/vitest"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Result } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { importGatus } from "../../../src/policy/import/importGatus.ts"
import { importHealthchecks } from "../../../src/policy/import/importHealthchecks.ts"
import { importKuma } from "../../../src/policy/import/importKuma.ts"
import type { MovedText } from "../../../src/policy/import/MovedPolicy.ts"

/** The tables of Uptime Kuma 1.23.16 and 2.5.3, as its migrations make them (November 2026), without what is not read. */
const TABLES = `
CREATE TABLE setting (id INTEGER PRIMARY KEY, "key" TEXT, value TEXT);
CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, monitor_id INTEGER, status INTEGER);
CREATE TABLE monitor (
  id INTEGER PRIMARY KEY, name TEXT, active BOOLEAN DEFAULT 1, "interval" INTEGER DEFAULT 60, url TEXT, type TEXT,
  hostname TEXT, port INTEGER, keyword TEXT, maxretries INTEGER DEFAULT 0, ignore_tls BOOLEAN DEFAULT 0,
  upside_down BOOLEAN DEFAULT 0, maxredirects INTEGER DEFAULT 10,
  accepted_statuscodes_json TEXT DEFAULT '["200-299"]', dns_resolve_type TEXT, dns_resolve_server TEXT,
  retry_interval INTEGER DEFAULT 0, push_token TEXT, method TEXT DEFAULT 'GET', body TEXT, headers TEXT,
  basic_auth_user TEXT, basic_auth_pass TEXT, proxy_id INTEGER, auth_method TEXT, resend_interval INTEGER DEFAULT 0,
  packet_size INTEGER DEFAULT 56, http_body_encoding TEXT, description TEXT, parent INTEGER, invert_keyword BOOLEAN,
  json_path TEXT, expected_value TEXT, timeout DOUBLE DEFAULT 0);
CREATE TABLE notification (id INTEGER PRIMARY KEY, name TEXT, active BOOLEAN, config TEXT);
CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY, monitor_id INTEGER, notification_id INTEGER);
CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY, monitor_id INTEGER, tag_id INTEGER, value TEXT);
CREATE TABLE status_page (
  id INTEGER PRIMARY KEY, slug TEXT, title TEXT, published BOOLEAN DEFAULT 1, password TEXT, description TEXT,
  custom_css TEXT, footer_text TEXT);
CREATE TABLE "group" (id INTEGER PRIMARY KEY, name TEXT, weight INTEGER, status_page_id INTEGER);
CREATE TABLE monitor_group (id INTEGER PRIMARY KEY, monitor_id INTEGER, group_id INTEGER, weight INTEGER);
CREATE TABLE maintenance (
  id INTEGER PRIMARY KEY, title TEXT, active BOOLEAN DEFAULT 1, strategy TEXT, cron TEXT, timezone TEXT, duration INTEGER);
CREATE TABLE monitor_maintenance (id INTEGER PRIMARY KEY, monitor_id INTEGER, maintenance_id INTEGER);
`

/** The columns that 2.x added. */
const LATER = `
ALTER TABLE monitor ADD json_path_operator TEXT;
ALTER TABLE monitor ADD conditions TEXT DEFAULT '[]';
ALTER TABLE monitor ADD bearer_token TEXT;
ALTER TABLE monitor ADD ws_subprotocol TEXT DEFAULT '';
ALTER TABLE monitor ADD ping_count INTEGER DEFAULT 1;
`

const insert = (
  database: DatabaseSync,
  table: string,
  row: Readonly<Record<string, string | number>>,
): void => {
  const names = Object.keys(row)
  const marks = names.map(() => "?").join()
  database
    .prepare(`INSERT INTO "${table}" (${names.map((one) => `"${one}"`).join()}) VALUES (${marks})`)
    .run(...Object.values(row))
}

/** Imports a database in a folder of its own, and looks at that folder afterwards. */
const moved = async (fill: (database: DatabaseSync) => void, tables = TABLES) => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-moving-"))
  const database = new DatabaseSync(join(folder, "kuma.db"))
  try {
    // The rows in the log count, and it stays there while the database is open.
    database.exec("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
    database.exec(tables)
    fill(database)
    const contents = () =>
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("hex")])
    const before = contents()
    const result = await importKuma(join(folder, "kuma.db"))
    assert.deepStrictEqual(contents(), before)
    return result
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

interface Moved extends MovedText {
  readonly watches?: Rows
  readonly freshness?: Rows
  readonly routes?: Rows
  readonly windows?: Rows
  readonly pages?: object
  readonly receivers?: object
}

const policyOf = (result: Result.Result<MovedText, string>): Moved => {
  const text = Result.getOrThrow(result)
  const document: unknown = parse(text.policy)
  assert.isTrue(Result.isSuccess(readPolicy(document, [])), text.policy)
  return { ...Object(document), ...text }
}

const monitor = (database: DatabaseSync, row: Readonly<Record<string, string | number>>) =>
  insert(database, "monitor", { type: "http", url: "https://shop.example/", ...row })

describe("moving in from Uptime Kuma", () => {
  it("takes monitors over, with their notifications, page, maintenance and secrets", async () => {
    const result = policyOf(
      await moved((database) => {
        monitor(database, {
          name: "Läden",
          method: "POST",
          body: '{"a":1}',
          headers: '{"X-Key":"s3cret"}',
          auth_method: "basic",
          basic_auth_user: "robot",
          basic_auth_pass: "it's",
          maxretries: 2,
          accepted_statuscodes_json: '["200-299","404"]',
        })
        monitor(database, {
          name: "Json",
          type: "json-query",
          json_path: "data.items[0].state",
          expected_value: "true",
          ignore_tls: 1,
        })
        monitor(database, { name: "Not there", type: "keyword", keyword: "Error", invert_keyword: 1 })
        monitor(database, {
          name: "Job",
          type: "push",
          push_token: "t0ken",
          interval: 3_600,
          maxretries: 1,
          retry_interval: 60,
        })
        insert(database, "notification", {
          name: "Chat",
          active: 1,
          config: '{"type":"slack","slackwebhookURL":"https://hooks.example/1"}',
        })
        insert(database, "monitor_notification", { monitor_id: 1, notification_id: 1 })
        insert(database, "status_page", { slug: "main", title: "Services" })
        insert(database, "group", { name: "Shop", weight: 1, status_page_id: 1 })
        insert(database, "monitor_group", { monitor_id: 1, group_id: 1, weight: 1 })
        insert(database, "maintenance", {
          title: "Nightly",
          strategy: "cron",
          cron: "0 3 * * *",
          timezone: "Europe/Berlin",
          duration: 1_800,
        })
        insert(database, "monitor_maintenance", { monitor_id: 1, maintenance_id: 1 })
      }),
    )
    assert.deepStrictEqual(result.run, ["tocsin integrations add kuma --kind push"])
    assert.deepStrictEqual(result.not_taken_over, [
      "Json: that it takes an expired certificate, which is critical here",
    ])
    assert.deepStrictEqual(result.watches, [
      {
        name: "laden",
        title: "Läden",
        every: "1m",
        confirm: { bad: 3 },
        http: {
          url: "https://shop.example/",
          method: "POST",
          headers: { "X-Key": { env: "TOCSIN_SECRET_LADEN_X_KEY" }, "Content-Type": "application/json" },
          auth: { basic: { user: "robot", password: { env: "TOCSIN_SECRET_LADEN_PASSWORD" } } },
          body: '{"a":1}',
          expect: { status: ["200-299", 404] },
          timeout: "30s",
        },
      },
      {
        name: "json",
        title: "Json",
        every: "1m",
        confirm: { bad: 1 },
        http: {
          url: "https://shop.example/",
          expect: { json: { "/data/items/0/state": true } },
          timeout: "30s",
          verify: false,
        },
      },
      {
        name: "not-there",
        title: "Not there",
        every: "1m",
        confirm: { bad: 1 },
        http: { url: "https://shop.example/", expect: { not_text: "Error" }, timeout: "30s" },
      },
    ])
    assert.deepStrictEqual(result.freshness, [
      { match: ["agent_id = kuma", "check_id = job"], every: "3600s", after: "3720s" },
    ])
    assert.deepStrictEqual(
      result.routes?.map(({ to }) => to),
      [["chat"], ["nobody"], ["nobody"], ["nobody"]],
    )
    assert.include(result.policy, '"cron":"0 3 * * *","tz":"Europe/Berlin","for":"30m"')
    assert.strictEqual(
      result.secrets,
      "TOCSIN_SECRET_CHAT_URL='https://hooks.example/1'\nTOCSIN_SECRET_LADEN_PASSWORD='it'\\''s'\nTOCSIN_SECRET_LADEN_X_KEY='s3cret'\n",
    )
    for (const secret of ["s3cret", "it's", "hooks.example", "t0ken"])
      assert.notInclude(result.policy, secret)
  })

  it("reads 2.x", async () => {
    const { watches } = policyOf(
      await moved((database) => {
        database.exec(LATER)
        monitor(database, {
          name: "a",
          type: "json-query",
          json_path: "$.count",
          json_path_operator: ">=",
          expected_value: "3",
        })
        monitor(database, {
          name: "b",
          type: "json-query",
          json_path: "s",
          json_path_operator: "contains",
          expected_value: "x",
        })
        monitor(database, {
          name: "c",
          type: "websocket-upgrade",
          url: "wss://a.example/",
          ws_subprotocol: "chat",
        })
        monitor(database, { name: "d", type: "ping", hostname: "a.example", ping_count: 2 })
        monitor(database, { name: "e", auth_method: "bearer", bearer_token: "t0ken" })
        monitor(database, {
          name: "f",
          type: "dns",
          hostname: "a.example",
          dns_resolve_type: "MX",
          dns_resolve_server: "2606:4700::1111",
          port: 5_353,
          conditions:
            '[{"type":"expression","variable":"record","operator":"equals","value":"10 mx.a.example","andOr":"and"}]',
        })
      }),
    )
    assert.containSubset(watches, [
      { http: { expect: { json: { "/count": ">= 3" } } } },
      { http: { expect: { json: { "/s": "~ *x*" } } } },
      {
        websocket: {
          url: "wss://a.example/",
          headers: { "Sec-WebSocket-Protocol": { env: "TOCSIN_SECRET_C_SEC_WEBSOCKET_PROTOCOL" } },
        },
      },
      { ping: { host: "a.example", count: 2 } },
      { http: { auth: { bearer: { env: "TOCSIN_SECRET_E_TOKEN" } } } },
      {
        dns: {
          name: "a.example",
          type: "MX",
          servers: ["[2606:4700::1111]:5353"],
          expect: ["10 mx.a.example"],
        },
      },
    ])
  })

  it("names all that it leaves out, in lines of its own, and repeats no name", async () => {
    const { not_taken_over, policy, watches } = policyOf(
      await moved((database) => {
        monitor(database, { name: "docker", type: "docker" })
        monitor(database, { name: "paused", active: 0 })
        monitor(database, { name: "upside", upside_down: 1 })
        monitor(database, { name: "ntlm", auth_method: "ntlm" })
        monitor(database, { name: "query", type: "json-query", json_path: "$count(a)", expected_value: "1" })
        monitor(database, { name: "twice\n# run: rm -rf /", proxy_id: 1, description: "d" })
        monitor(database, { name: "twice # run rm rf" })
        insert(database, "notification", { name: "line", active: 1, config: '{"type":"line"}' })
        insert(database, "notification", { name: "chat", active: 1, config: '{"type":"telegram"}' })
        insert(database, "monitor_notification", { monitor_id: 7, notification_id: 1 })
        insert(database, "status_page", { slug: "draft", title: "Draft", published: 0 })
        insert(database, "maintenance", { title: "once", strategy: "single" })
      }),
    )
    assert.deepStrictEqual(not_taken_over, [
      "line: a notification by line has no equal",
      "chat: the notification: it has no telegramBotToken",
      "docker: a monitor of type docker has no equal",
      "paused: it is paused",
      "upside: it is upside down",
      "ntlm: it signs in by NTLM",
      "query: its query $count(a) is more than a path",
      "twice # run: rm -rf /: its proxy",
      "twice # run: rm -rf /: its description",
      "twice # run rm rf: its notifications, so it has no route",
      "Draft: the page, which is not published",
      "once: the maintenance, which is single",
    ])
    assert.deepStrictEqual(
      watches?.map(({ name }) => name),
      ["twice-run-rm-rf", "twice-run-rm-rf-2"],
    )
    for (const line of policy.split("\n")) assert.match(line, /^(?:# (?:run|not taken over): |\w+:$| {2}|$)/)
  })

  it("makes tags and the group labels, and names what none can be", async () => {
    const { freshness, not_taken_over, watches } = policyOf(
      await moved((database) => {
        monitor(database, { name: "Shop", type: "group" })
        monitor(database, { name: "Front", parent: 1 })
        monitor(database, { name: "Job", type: "push", parent: 1 })
        monitor(database, { name: "Old", type: "group", active: 0 })
        monitor(database, { name: "Away", parent: 4 })
        for (const name of ["prod", "team", "two words", "token", "group"]) insert(database, "tag", { name })
        for (const [tag_id, value] of [
          [1, ""],
          [2, "web"],
          [2, "api"],
          [3, ""],
          [4, "x"],
          [5, "y"],
        ] as const)
          insert(database, "monitor_tag", { monitor_id: 2, tag_id, value })
      }),
    )
    assert.containSubset(watches, [
      { name: "front", title: "Front", labels: { group: "Shop", prod: "true", team: "web" } },
    ])
    assert.lengthOf(watches ?? [], 1)
    assert.lengthOf(freshness ?? [], 1)
    assert.deepStrictEqual(not_taken_over, [
      "Shop: the group itself, whose monitors are taken over each for itself",
      "Front: its tag team: api, which its labels cannot have",
      "Front: its tag two words, which its labels cannot have",
      "Front: its tag token: x, which its labels cannot have",
      "Front: its tag group: y, which its labels cannot have",
      "Job: its group Shop; a job has no labels",
      "Old: the group itself, whose monitors are taken over each for itself",
      "Away: its group is paused",
    ])
  })

  it("names a monitor that no policy can state, and takes the others over", async () => {
    const { not_taken_over, secrets, routes, watches } = policyOf(
      await moved((database) => {
        monitor(database, { name: "No port", type: "port", hostname: "db.example" })
        monitor(database, { name: "Bad header", headers: '{"a b":"s3cret"}' })
        monitor(database, { name: "Zeros", type: "json-query", json_path: "$[0].n", expected_value: "007" })
        monitor(database, { name: "No redirect", maxredirects: 0 })
        monitor(database, {
          name: "No password",
          auth_method: "basic",
          basic_auth_user: "key",
          basic_auth_pass: "",
        })
        monitor(database, { name: "Headers", headers: "a: b" })
      }),
    )
    assert.deepStrictEqual(not_taken_over, [
      "No port: tcp.port must be a value between 1 and 65535",
      'Bad header: http.headers["a b"] must have a name of letters, digits and -',
      "Headers: its headers, which are no JSON object",
    ])
    assert.containSubset(watches, [
      { http: { expect: { json: { "/0/n": "007" } } } },
      { http: { redirects: 0, expect: { status: ["200-299"] } } },
      { http: { headers: { authorization: { env: "TOCSIN_SECRET_NO_PASSWORD_AUTHORIZATION" } } } },
      { title: "Headers" },
    ])
    assert.lengthOf(routes ?? [], 4)
    assert.strictEqual(secrets, "TOCSIN_SECRET_NO_PASSWORD_AUTHORIZATION='Basic a2V5Og=='\n")
  })

  it("gives each line of a page an address of its own, and windows the zone of the server", async () => {
    const { not_taken_over, pages, windows } = policyOf(
      await moved((database) => {
        for (const name of ["API", "api", "Api 2", "A.P.I", "Badge", "ü"]) monitor(database, { name })
        insert(database, "status_page", { slug: "main", title: "Services" })
        insert(database, "group", { name: "All", weight: 1, status_page_id: 1 })
        for (const monitor_id of [1, 2, 3, 4, 5, 6])
          insert(database, "monitor_group", { monitor_id, group_id: 1, weight: monitor_id })
        insert(database, "setting", { key: "serverTimezone", value: '"Europe/Berlin"' })
        insert(database, "maintenance", {
          title: "Nightly",
          strategy: "cron",
          cron: "0 3 * * *",
          timezone: "SAME_AS_SERVER",
          duration: 1_800,
        })
        for (const monitor_id of [1, 2])
          insert(database, "monitor_maintenance", { monitor_id, maintenance_id: 1 })
      }),
    )
    assert.deepStrictEqual(not_taken_over, [])
    const [line, ...lines] = Object(pages)["main"].groups[0].lines
    assert.deepStrictEqual(
      [line, ...lines].map(({ id, name }: { readonly id: string; readonly name: string }) => [name, id]),
      [
        ["API", undefined],
        ["api", "api-2"],
        ["Api 2", "api-2-2"],
        ["A.P.I", undefined],
        ["Badge", "badge-2"],
        ["ü", "u"],
      ],
    )
    assert.deepStrictEqual(
      windows?.map(({ comment, name, tz }) => [name, tz, comment]),
      [
        ["api-1", "Europe/Berlin", "Nightly"],
        ["api-2-1", "Europe/Berlin", "Nightly"],
      ],
    )
  })

  it("refuses what is older than 1.23, and what is of another program", async () => {
    const refusal = async (tables: string) => {
      const result = await moved(() => {}, tables)
      return Result.isFailure(result) ? result.failure : ""
    }
    assert.include(await refusal(TABLES.replace("json_path TEXT, expected_value TEXT, ", "")), "1.23")
    assert.include(await refusal("CREATE TABLE a (b)"), "not a database of Uptime Kuma")
    const folder = mkdtempSync(join(tmpdir(), "tocsin-moving-"))
    writeFileSync(join(folder, "text"), "no database")
    for (const name of ["text", "none"]) assert.isTrue(Result.isFailure(await importKuma(join(folder, name))))
    rmSync(folder, { recursive: true })
  })

  it("takes 1000 monitors over, and names the others", async () => {
    const { not_taken_over, watches } = policyOf(
      await moved((database) => {
        for (let n = 0; n < 1_001; n++) monitor(database, { name: `Monitor ${n}` })
      }),
    )
    assert.lengthOf(watches ?? [], 1_000)
    assert.deepStrictEqual(not_taken_over, ["Monitor 1000: a policy has at most 1000 watches"])
  })
})

describe("moving in from Gatus", () => {
  const gatus = (...lines: ReadonlyArray<string>) =>
    policyOf(importGatus(["endpoints:", ...lines].join("\n")))

  it("makes each condition what a watch has, and names the others", () => {
    const { not_taken_over, watches } = gatus(
      "  - name: front end",
      "    group: core",
      '    url: "https://shop.example/"',
      "    interval: 1m30s",
      "    conditions:",
      ...[
        "[STATUS] == any(200, 429)",
        "[RESPONSE_TIME] < 300",
        "[CERTIFICATE_EXPIRATION] > 36h",
        "[BODY] == pat(*Welcome*)",
        "[BODY].a[0].b == 1",
        "[BODY].c != x",
        "[BODY].d == pat(j*n)",
        "len([BODY].items) < 5",
        "has([BODY].errors) == false",
        "[CONNECTED] == true",
        "[IP] == 1.2.3.4",
      ].map((one) => `      - "${one}"`),
    )
    assert.deepStrictEqual(watches, [
      {
        name: "core-front-end",
        title: "front end",
        every: "90s",
        confirm: { bad: 3, good: 2 },
        labels: { group: "core" },
        http: {
          url: "https://shop.example/",
          expect: {
            status: [200, 429],
            text: "Welcome",
            json: { "/a/0/b": 1, "/c": "!= x", "/d": "~ j*n", "/items/4": "absent", "/errors": "absent" },
          },
          time: { critical: "300ms" },
          days: { critical: 2 },
        },
      },
    ])
    assert.deepStrictEqual(not_taken_over, ["core front end: its condition [IP] == 1.2.3.4"])
  })

  it.each([
    ["tcp://db.example:5432", { tcp: { host: "db.example", port: 5_432 } }],
    ["icmp://a.example", { ping: { host: "a.example" } }],
    ["tls://a.example:8443", { tls: { host: "a.example", port: 8_443 } }],
    ["starttls://a.example:587", { tls: { host: "a.example", port: 587, starttls: "smtp" } }],
    ["wss://a.example/", { websocket: { url: "wss://a.example/" } }],
  ])("takes %s over", (url, probe) => {
    assert.containSubset(gatus(`  - { name: a, url: "${url}" }`).watches, [probe])
  })

  it("takes every status where no condition names one, as Gatus does", () => {
    const { watches } = gatus(
      '  - { name: a, url: "https://a.example/", conditions: ["[RESPONSE_TIME] < 300"] }',
      '  - { name: b, url: "https://b.example/", conditions: ["[STATUS] > 300"] }',
      '  - { name: c, url: "https://c.example/", conditions: ["200 == [STATUS]"] }',
    )
    assert.deepStrictEqual(
      watches?.map(({ http }) => http),
      [
        { url: "https://a.example/", expect: { status: ["100-599"] }, time: { critical: "300ms" } },
        { url: "https://b.example/" },
        { url: "https://c.example/" },
      ],
    )
  })

  it.each([
    ["ssh://a.example", "of no kind that a watch has"],
    ["http://${HOST}/", "has a variable"],
  ])("leaves %s out", (url, why) => {
    const { not_taken_over, watches } = gatus(`  - { name: a, url: "${url}" }`)
    assert.isUndefined(watches)
    assert.include(not_taken_over.join(), why)
  })

  it("takes providers, thresholds, the client and what connections send over, and names the rest", () => {
    const { not_taken_over, freshness, receivers, routes, secrets, watches } = policyOf(
      importGatus(`
debug: true
web: { port: 8080 }
alerting:
  slack:
    webhook-url: "https://hooks.example/1"
    default-alert: { failure-threshold: 5, send-on-resolved: true, description: d }
    overrides: []
  email: { from: a@b.example, password: "p w", host: mail.example, port: 465, to: "x@y.example,z@y.example" }
  custom: { url: "https://a.example/" }
  discord: {}
endpoints:
  - name: one
    url: https://a.example/
    client: { insecure: true, timeout: 45s, ignore-redirect: true, proxy-url: "http://p" }
    conditions: ["[STATUS] <= 700", "[STATUS] < 100", "[RESPONSE_TIME] < 60000", "[BODY].a-b == 007", "[BODY][0].x < -1.5"]
    alerts: [{ type: slack }, { type: email }, { type: line }]
    ui: { hide-url: true }
  - { name: 404, url: "tcp://db.example:5432", body: PING, conditions: ["[BODY] == pat(*PONG*)"] }
  - { name: ws, url: "wss://a.example/", headers: { X-Key: k }, body: hi, alerts: [{ type: custom }] }
  - { name: mx, url: "8.8.8.8", dns: { query-name: a.example, query-type: MX }, conditions: ["[BODY] == mx.a.example"] }
  - { name: by name, url: dns.example, dns: { query-name: a.example }, conditions: ["[BODY] == any(10.0.0.1, 10.0.0.2)"] }
  - { name: head, url: "http://a.example", client: { insecure: true }, method: HEAD, conditions: ["[BODY] == pat(*x*)"] }
  - { name: trace, url: "https://a.example", method: TRACE }
external-endpoints:
  - { name: job, group: core, token: t0ken, heartbeat: { interval: 30m }, alerts: [{ type: slack, failure-threshold: 2 }] }
`),
    )
    assert.deepStrictEqual(not_taken_over, [
      "slack: settings of the alerting: overrides",
      "custom: alerting by it has no equal here",
      "discord: the alerting has no webhook-url",
      "one: its timeout of 45 s, of which 30 stay",
      "one: its setting client.proxy-url",
      "one: that it takes an expired certificate, which is critical here",
      "one: its condition [STATUS] < 100",
      "one: its condition [RESPONSE_TIME] < 60000",
      "one: its setting ui",
      "one: the setting description of its alerts",
      "ws: its alerts, so it has no route",
      "mx: its condition [BODY] == mx.a.example",
      "by name: its name server dns.example, which is no address",
      "by name: its condition [BODY] == any(10.0.0.1, 10.0.0.2)",
      "head: its condition [BODY] == pat(*x*)",
      "trace: http.method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "core job: its group core; a job has no labels",
      "core job: the thresholds of its alerts",
      "core job: the setting description of its alerts",
      "debug: it has no equal",
    ])
    assert.containSubset(watches, [
      {
        name: "one",
        confirm: { bad: 5, good: 2 },
        http: {
          verify: false,
          timeout: "30s",
          redirects: 0,
          expect: { status: ["100-599"], json: { "/a-b": "007", "/0/x": "< -1.5" } },
        },
      },
      { title: "404", tcp: { host: "db.example", port: 5_432, send: "PING", expect: "PONG" } },
      { websocket: { headers: { "X-Key": { env: "TOCSIN_SECRET_WS_X_KEY" } }, send: "hi" } },
      { dns: { name: "a.example", type: "MX", servers: ["8.8.8.8:53"] } },
    ])
    assert.deepStrictEqual(freshness, [
      { match: ["agent_id = gatus", "check_id = core-job"], every: "1800s", after: "1860s" },
    ])
    assert.deepStrictEqual(Object.keys(receivers ?? {}), ["slack", "email", "nobody"])
    assert.deepStrictEqual(
      routes?.map(({ to }) => to),
      [["slack", "email"], ["nobody"], ["nobody"], ["nobody"], ["nobody"], ["slack"]],
    )
    assert.include(secrets, "TOCSIN_SECRET_EMAIL_URL='smtps://a%40b.example:p%20w@mail.example:465'\n")
  })

  it("takes aliases of many endpoints over", () => {
    const { watches } = gatus(
      '  - { name: first, url: "https://a.example/", conditions: &ok ["[STATUS] == 200"] }',
      ...Array.from(
        { length: 200 },
        (_, n) => `  - { name: n${n}, url: "https://a.example/", conditions: *ok }`,
      ),
    )
    assert.lengthOf(watches ?? [], 201)
    assert.containSubset(watches?.at(-1), { http: { expect: { status: [200] } } })
  })

  it("refuses aliases that multiply, and what is no configuration of Gatus", () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ..."bcdefg"
        .split("")
        .map((name, n) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdef"[n]}`).join()}]`),
      "endpoints: [*g]",
    ]
    for (const text of [bomb.join("\n"), "a: 1", "- 1", "{"])
      assert.isTrue(Result.isFailure(importGatus(text)), text)
  })
})

describe("moving in from Healthchecks", () => {
  const check = { name: "Backup", grace: 600, status: "up", timeout: 3_600, tags: "", channels: "" }

  it("takes checks over as jobs", () => {
    const { freshness, not_taken_over, run } = policyOf(
      importHealthchecks(
        JSON.stringify({
          checks: [
            { ...check, ping_url: "https://hc.example/s3cret" },
            {
              ...check,
              name: "Cron",
              timeout: undefined,
              schedule: "15 5 * * *",
              tz: "Europe/Berlin",
              tags: "db",
              filter_subject: true,
            },
            { ...check, name: "Paused", status: "paused" },
            { ...check, name: "Calendar", timeout: undefined, schedule: "*-*-01" },
          ],
        }),
      ),
    )
    assert.deepStrictEqual(run, ["tocsin integrations add healthchecks --kind ping"])
    assert.deepStrictEqual(freshness, [
      { match: ["agent_id = healthchecks", "check_id = backup"], every: "3600s", after: "4200s" },
      {
        match: ["agent_id = healthchecks", "check_id = cron"],
        cron: "15 5 * * *",
        tz: "Europe/Berlin",
        grace: "600s",
      },
    ])
    assert.deepStrictEqual(not_taken_over, [
      "Cron: its settings filter_subject",
      "Cron: its tags db",
      "Paused: it is paused",
      "Calendar: its schedule *-*-01 is no cron of five fields",
    ])
  })

  it.each(["{}", "[]", "x", '{"checks":[1]}'])("refuses %s", (text) => {
    assert.isTrue(Result.isFailure(importHealthchecks(text)))
  })
})
