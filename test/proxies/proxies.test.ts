import { readFileSync } from "node:fs"
import { Agent } from "node:https"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventOf, heartbeat } from "../processes/Agent.ts"
import { operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { ask, askByHttp2 } from "./ask.ts"
import { lacks, type Proxy, type ProxyKind, proxyKinds, startProxy } from "./Proxy.ts"
import { LARGE_BYTES, startUpstream, type Upstream } from "./Upstream.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const MIB = 1_048_576

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Tocsin behind a proxy, trusting it, and letting one agent register from each address. */
const served = Effect.fnUntraced(function* (kind: ProxyKind, changes: Readonly<Record<string, string>> = {}) {
  const server = yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      SERVICE_TRUST_PROXY: "1",
      SERVICE_REGISTRATION_RATE: "1/1",
      ...changes,
    },
  })
  return { server, proxy: yield* startProxy(kind, server.port) }
})

const STATUS_SITE = "status.example.org"
const statusPage = readFileSync(new URL("../../docs/status-page.md", import.meta.url), "utf8")

/** The lines of the page on status pages that lead a name to one, in a site of that name. */
const statusSite = ({ name }: ProxyKind): string => {
  const [, lines = ""] = new RegExp(`^\`\`\`${name}\\w*\n(.*?)^\`\`\``, "ms").exec(statusPage) ?? []
  assert.notStrictEqual(lines, "")
  return name === "nginx"
    ? `server { listen 80; server_name ${STATUS_SITE}; ${lines} }`
    : lines.replace(STATUS_SITE, `http://${STATUS_SITE}`)
}

/** Where a name leads; the service has no file of any other path below `/status/example/`. */
const OPEN: Readonly<Record<string, string>> = {
  "/": "/status/example",
  "/example.json": "/status/example.json",
  "/example.atom": "/status/example.atom",
  "/example/badge.svg": "/status/example/badge.svg",
}

/** Other pages, among them those whose names or paths begin alike, and the rest of the service. */
const SHUT = [
  "/example-internal",
  "/example-internal.json",
  "/example-internal/badge.svg",
  "/example.json-internal",
  "/internal.json",
  "/example/../internal.json",
  "/example/..%2finternal.json",
  "/example/%2e%2e/internal.json",
  "/status/internal",
  "/api/v1/agents",
  "/console/app.js",
]

const leadsToOnePage = Effect.fnUntraced(function* (proxy: Proxy, { requests }: Upstream) {
  const asked = (path: string) => ask(proxy, { path, isPlain: true, headers: { host: STATUS_SITE } })
  for (const [path, url] of Object.entries(OPEN)) {
    yield* asked(path)
    assert.strictEqual(requests.at(-1)?.url, url)
  }
  const before = requests.length
  for (const path of SHUT) yield* asked(path)
  assert.deepStrictEqual(
    requests.slice(before).map(({ url }) => url),
    [],
  )
})

const heartbeatOf = (agent_id: string): string =>
  JSON.stringify({
    agent_id,
    observed_at: "2026-01-01T00:00:00Z",
    hostname: agent_id,
    features: { push: true, metrics: false },
  })

const behind = (kind: ProxyKind) => {
  const missing = lacks(kind)
  const reason = skippedFor(missing)

  describe.skipIf(missing !== undefined)(`Tocsin behind ${kind.name}${reason}`, () => {
    it.live("is reached by TLS with its own headers and IDs, by HTTP/1.1 and HTTP/2", () =>
      Effect.gen(function* () {
        const { proxy } = yield* served(kind)
        const health = yield* ask(proxy, { path: "/api/v1/health", headers: { "x-request-id": "mine-1" } })
        assert.deepStrictEqual([health.status, health.text], [200, '{"status":"ok"}'])
        assert.strictEqual(health.headers["x-request-id"], "mine-1")
        assert.strictEqual(health.headers["strict-transport-security"], "max-age=31536000")
        assert.strictEqual(health.headers["x-content-type-options"], "nosniff")
        const unnamed = yield* ask(proxy, { path: "/api/v1/agents" })
        assert.strictEqual(unnamed.status, 401)
        assert.include(unnamed.text, `"request_id":"${unnamed.headers["x-request-id"]}"`)
        const paths = ["/api/v1/health", "/api/v1/ready", "/api/v1/agents", "/nowhere"]
        assert.deepStrictEqual(yield* askByHttp2(proxy, paths), [200, 200, 401, 404])
        assert.strictEqual((yield* ask(proxy, { method: "HEAD", path: "/api/v1/health" })).status, 200)
      }),
    )

    it.live("redirects browsers from http to https, and refuses programs", () =>
      Effect.gen(function* () {
        const proxy = yield* startProxy(kind, (yield* startUpstream).port)
        const page = yield* ask(proxy, { path: "/docs?x=1", isPlain: true })
        assert.strictEqual(page.status, 308)
        assert.strictEqual(page.headers.location, "https://monitoring.example/docs?x=1")
        for (const path of ["/api/v1/heartbeat", "/ops/v1/incidents"]) {
          const program = yield* ask(proxy, { method: "POST", path, body: "{}", isPlain: true })
          assert.strictEqual(program.status, 403, path)
        }
      }),
    )

    it.live("identifies clients by address, not by their headers", () =>
      Effect.gen(function* () {
        const { proxy } = yield* served(kind)
        const register = (agent: string, from: string, forged: string) =>
          ask(proxy, {
            method: "POST",
            path: "/api/v1/heartbeat",
            headers: { ...bearer(`${agent}-key`), "x-forwarded-for": forged },
            body: heartbeatOf(agent),
            from,
          })
        const statuses = [
          (yield* register("a", "127.0.0.1", "192.0.2.1")).status,
          (yield* register("b", "127.0.0.1", "192.0.2.2")).status,
          (yield* register("c", "127.0.0.2", "192.0.2.1, 127.0.0.1")).status,
          (yield* register("d", "127.0.0.2", "")).status,
        ]
        assert.deepStrictEqual(statuses, [202, 429, 202, 429])
      }),
    )

    it.live("accepts batches up to 1 MiB, and answers larger ones itself", () =>
      Effect.gen(function* () {
        const { server, proxy } = yield* served(kind)
        const agent = { agent_id: "web-1", key: secretOf("web-1") }
        yield* Effect.orDie(heartbeat(server, agent))
        yield* operate(server, "POST", "/api/v1/agents/web-1/accept")
        const events = Array.from({ length: 100 }, (_, index) => ({
          ...eventOf({ check_id: `check-${index}`, status: "ok" }),
          output: "x".repeat(8_000),
        }))
        const send = (bytes: number, isChunked = false) =>
          ask(proxy, {
            method: "POST",
            path: "/api/v1/events",
            headers: bearer(agent.key),
            body: JSON.stringify({ agent_id: "web-1", events }).padEnd(bytes, " "),
            isChunked,
          })
        const largest = yield* send(MIB)
        assert.deepStrictEqual([largest.status, largest.text], [202, '{"accepted":100,"deduplicated":0}'])
        assert.strictEqual((yield* send(MIB, true)).status, 202)
        for (const isChunked of [false, true]) {
          const tooLarge = yield* send(MIB + 1, isChunked)
          assert.strictEqual(tooLarge.status, 413)
          assert.include(tooLarge.text, '"code":"payload_too_large"')
        }
        // An answer that arrives while the proxy still sends must never be lost.
        for (let count = 0; count < 10; count++) {
          assert.strictEqual((yield* send(MIB * 1.9, count % 2 === 0)).status, 413)
        }
        for (let count = 0; count < 10; count++) {
          assert.strictEqual((yield* send(MIB * 3, count % 2 === 0)).status, 413)
        }
        assert.strictEqual((yield* send(MIB * 20, true)).status, 413)
      }),
    )

    it.live("does not expose its metrics", () =>
      Effect.gen(function* () {
        const { proxy } = yield* served(kind)
        for (const path of ["/metrics", "/metric%73", "//metrics", "/./metrics", "/metrics?x"]) {
          const outside = yield* ask(proxy, { path, from: "127.0.0.2", headers: bearer(OPERATOR_TOKEN) })
          assert.include([403, 404, 308], outside.status, path)
        }
        assert.strictEqual((yield* ask(proxy, { path: "/metrics", from: "127.0.0.2" })).status, 403)
        assert.notStrictEqual((yield* ask(proxy, { path: "/metrics", from: "127.0.0.1" })).status, 403)
      }),
    )

    it.live(
      "keeps connections alive, passes large answers whole, serves a page at its name, and logs no secret",
      () =>
        Effect.gen(function* () {
          const upstream = yield* startUpstream
          const proxy = yield* startProxy(kind, upstream.port, statusSite(kind))
          const agent = new Agent({ keepAlive: true, maxSockets: 1 })
          for (let count = 0; count < 40; count++) {
            yield* ask(proxy, { path: "/api/v1/agents?q=1", headers: bearer(OPERATOR_TOKEN), agent })
          }
          agent.destroy()
          assert.isAtMost(upstream.connections(), 4)
          const [first] = upstream.requests
          assert.strictEqual(first?.headers["x-forwarded-for"], "127.0.0.1")
          assert.strictEqual(first?.headers["authorization"], `Bearer ${OPERATOR_TOKEN}`)
          assert.strictEqual(first?.headers.host, "monitoring.example")
          yield* leadsToOnePage(proxy, upstream)
          const large = yield* ask(proxy, { path: "/large" })
          assert.deepStrictEqual([large.status, large.text.length], [200, LARGE_BYTES])
          assert.include(proxy.log(), "/api/v1/agents")
          assert.notInclude(proxy.log(), "temporary file")
          assert.notInclude(proxy.log(), OPERATOR_TOKEN)
        }),
    )

    it.live("is reported as down while it is, and reachable immediately after", () =>
      Effect.gen(function* () {
        const { server, proxy } = yield* served(kind)
        assert.strictEqual((yield* ask(proxy, { path: "/api/v1/ready" })).status, 200)
        yield* server.stop
        assert.strictEqual((yield* ask(proxy, { path: "/api/v1/ready" })).status, 502)
        yield* startServer({
          cwd: yield* scratchFolder,
          environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_PORT: String(server.port) },
        })
        assert.strictEqual((yield* ask(proxy, { path: "/api/v1/ready" })).status, 200)
      }),
    )
  })
}

describe.concurrent("proxies", () => {
  for (const kind of proxyKinds) behind(kind)
})
