import { assert, describe, it } from "@effect/vitest"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { policyNames, watchNames } from "@tocsin/contract/policy/policyNames"
import { integrationNames } from "@tocsin/contract/integrations/integrationNames"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Result } from "effect"
import { KNOWN_NAMES, unknownAmong } from "../../../src/heart/replicas/knownNames.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const NOW = Instant.fromMillis(Date.UTC(2026, 0, 1))

/** The first of some names that a live server lacks, which reports these, or none. */
const lacks = (names: ReadonlyArray<string>, known_names?: ReadonlyArray<string>) => {
  const replica = {
    id: "other",
    version: "0.3.0",
    policy_hash: "",
    receivers: [],
    probes: true,
    agent_sha256: undefined,
    known_names,
    started_at: NOW,
    seen_at: NOW,
    ended_at: undefined,
  }
  return unknownAmong(names, [replica], NOW)?.name
}

const namesOf = (policy: unknown): ReadonlyArray<string> => {
  const document: PolicyDocument = Result.getOrThrow(
    readPolicy(policy, ["webhook", "messenger", "alert_router", "debug"]),
  )
  return policyNames(document)
}

const mail = { kind: "messenger", type: "email", url_env: "A", from: "a@b.example", to: ["c@d.example"] }
const chat = { kind: "messenger", url_env: "A" }
const rota = { tz: "UTC", order: ["chat"], every: "1d", from: "2026-12-07T09:00" }
const page = { title: "Shop", groups: [{ title: "A", lines: [{ name: "Web", match: ["check_id = a"] }] }] }
const watch = (probe: object) => ({ watches: [{ name: "shop", ...probe }] })
const http = (options: object) => watch({ http: { url: "https://shop.example/", ...options } })

const NEW: ReadonlyArray<readonly [string, unknown]> = [
  ["tz", { tz: "Europe/Berlin" }],
  ["again_after", { again_after: "1h" }],
  ["receivers.digest=off", { receivers: { chat: { ...chat, digest: "off" } } }],
  ["receivers.tz", { receivers: { chat: { ...chat, tz: "Europe/Berlin" } } }],
  ["receivers.type=browser", { receivers: { ann: { kind: "messenger", type: "browser", operator: "ann" } } }],
  ["rotas", { receivers: { chat }, rotas: { primary: rota } }],
  ["pages", { pages: { shop: page } }],
  ["watches.ping", watch({ ping: { host: "shop.example" } })],
  ["watches.websocket", watch({ websocket: { url: "wss://shop.example/" } })],
  ["watches.http.expect", http({ expect: { status: [200] } })],
  ["watches.http.time", http({ time: { critical: "1s" } })],
  ["watches.http.secret", http({ secret: ["x-count"] })],
  ["watches.http.method=PUT", http({ method: "PUT" })],
  ["watches.http.auth", http({ auth: { bearer: { env: "TOCSIN_SECRET_A" } } })],
  ["watches.dns.servers", watch({ dns: { name: "shop.example", servers: ["192.0.2.1"] } })],
  ["watches.tls.starttls", watch({ tls: { host: "shop.example", starttls: "smtp" } })],
  ["watches.tcp.send", watch({ tcp: { host: "shop.example", port: 25, send: "a" } })],
]

describe("a server that reports no names", () => {
  for (const [name, policy] of NEW)
    it(`lacks ${name} of a policy`, () => assert.strictEqual(lacks(namesOf(policy)), name))

  it("knows what 0.3.0 had", () => {
    const usual = {
      receivers: {
        mail: { ...mail, quiet: { hours: "22:00-07:00", tz: "UTC", below: "critical" } },
        chat: { ...chat, digest: { over: 5 } },
        am: { kind: "alert_router", type: "pagerduty", routing_key_env: "A" },
      },
      routes: [
        {
          match: ["severity = critical"],
          remind: "4h",
          steps: [{ to: ["chat"] }, { after: "1h", to: ["mail"] }],
        },
      ],
      windows: [{ name: "backup", cron: "0 2 * * 0", tz: "UTC", for: "4h", match: ["check_id = a"] }],
      freshness: [{ match: ["check_id = a"], every: "5m", after: "20m", severity: "critical" }],
      ...http({ method: "HEAD", days: { critical: 3 } }),
    }
    assert.strictEqual(lacks(namesOf(usual)), undefined)
  })

  it("lacks kinds and options of watches and integrations", () => {
    assert.strictEqual(lacks(watchNames({ ping: { host: "a.example" } })), "watches.ping")
    assert.strictEqual(
      lacks(watchNames({ http: { url: "https://a.example/", body: "a" } })),
      "watches.http.body",
    )
    assert.strictEqual(
      lacks(watchNames({ tcp: { host: "a.example", port: 1 }, confirm: { bad: 3 } })),
      undefined,
    )
    assert.strictEqual(lacks(integrationNames("mail", {})), "the integration kind mail")
    assert.strictEqual(lacks(integrationNames("ping", { rules: [] })), "the integration option rules")
  })
})

describe("a server that reports names", () => {
  it("lacks the others, whatever its version", () => {
    const names = namesOf({ again_after: "1h", receivers: { chat: { ...chat, digest: "off" } } })
    assert.strictEqual(lacks(names, KNOWN_NAMES), undefined)
    const former = KNOWN_NAMES.filter((name) => name !== "receivers.digest=off")
    assert.strictEqual(lacks(names, former), "receivers.digest=off")
  })
})
