import { once } from "node:events"
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, expect, it, vi } from "@effect/vitest"
import { serve as serveHono } from "@hono/node-server"
import * as fastify from "@tocsin/examples/fastify/app"
import * as hono from "@tocsin/examples/hono/app"
import express from "express"
import { createMonitor, memory, type Monitor, type MonitorOptions } from "tocsin"
import { resetRequests } from "../http/client/resetRequests.ts"
import { collect, enroll, heartbeatOf, keyOf, resultOf, send, turns, until } from "./requests.ts"

const TOKEN = "operators-token"

const start = (options: Partial<MonitorOptions> = {}) =>
  createMonitor({ storage: memory(), log: false, notifiers: [], operatorTokens: [TOKEN], ...options })

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Runs a test against a server on a free port of this machine. */
const listening = async (listener: RequestListener, use: (base: string, server: Server) => Promise<void>) => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    await use(`http://127.0.0.1:${portOf(server)}`, server)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const post = (url: string, body: string | Uint8Array<ArrayBuffer> | ReadableStream, key = keyOf("a")) =>
  fetch(url, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body instanceof ReadableStream && { duplex: "half" }),
  })

const read = async (url: string) => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } })
  return { status: response.status, body: await response.json() }
}

/** A batch of about a megabyte that fits the contract. */
const large = JSON.stringify({
  agent_id: "a",
  events: Array.from({ length: 120 }, (_, n) =>
    resultOf("ok", { check_id: `check-${n}`, output: "x".repeat(8_000) }),
  ),
})

const chunksOf = (text: string, size: number): ReadableStream => {
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      if (at >= text.length) return controller.close()
      controller.enqueue(new TextEncoder().encode(text.slice(at, at + size)))
      at += size
    },
  })
}

/** Requests that every host has to let through. */
const conversation = async (base: string, monitor: Monitor) => {
  const taken = await post(`${base}/api/v1/heartbeat`, JSON.stringify(heartbeatOf("a")))
  assert.deepStrictEqual([taken.status, await taken.json()], [202, { accepted: false }])
  assert.match(taken.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/)
  await monitor.agents.accept("a")
  const whole = await post(`${base}/api/v1/events`, large)
  assert.deepStrictEqual([whole.status, await whole.json()], [202, { accepted: 120, deduplicated: 0 }])
  const chunked = await post(`${base}/api/v1/events`, chunksOf(large, 10_000))
  assert.deepStrictEqual([chunked.status, await chunked.json()], [202, { accepted: 0, deduplicated: 120 }])
  const agents = await read(`${base}/api/v1/agents`)
  assert.strictEqual(agents.status, 200)
  assert.strictEqual((await read(`${base}/api/v1/agents/nobody`)).status, 404)
  const explained = await read(`${base}/ops/v1/explain?agent_id=a&check_id=check-1`)
  assert.deepInclude(explained.body as object, { incident: null })
  for (const path of ["/openapi.json", "/ops/v1/openapi.json", "/docs", "/docs/viewer.css"]) {
    const { status, ok } = await fetch(`${base}${path}`)
    assert.isTrue(ok, `${path}: ${status}`)
  }
  const removed = await fetch(`${base}/api/v1/agents/a`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  assert.deepStrictEqual(await removed.json(), { count: 1 })
}

const tooLarge = `"${"x".repeat(1_048_576)}"`

describe("node:http", () => {
  it("serves the API", async () => {
    await using monitor = await start()
    await listening(monitor.node, async (base) => {
      await conversation(base, monitor)
      const refused = await post(`${base}/api/v1/events`, tooLarge)
      assert.strictEqual(refused.status, 413)
      assert.strictEqual((await fetch(`${base}/nowhere`)).status, 404)
    })
  })

  it("serves it below a path of one's choice", async () => {
    await using monitor = await start({ basePath: "/ops/monitoring" })
    await listening(monitor.node, (base) => conversation(`${base}/ops/monitoring`, monitor))
  })

  it("serves links in messages until their receiver loses them, and senders, behind other routes", async () => {
    const messages: Array<string> = []
    const chat = createServer((request, response) => {
      request.setEncoding("utf8").on("data", (text: string) => messages.push(JSON.parse(text).text))
      request.on("end", () => response.end())
    }).listen(0, "127.0.0.1")
    await once(chat, "listening")
    vi.stubEnv("CHAT_URL", `http://127.0.0.1:${portOf(chat)}/`)
    const phone = { kind: "messenger", url_env: "CHAT_URL" } as const
    await using monitor = await start({
      basePath: "/tocsin",
      publicUrl: "https://example.org/tocsin",
      linkKey: "5a".repeat(32),
      policy: { receivers: { phone: { ...phone, acknowledge: "1h" } } },
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await until(() => messages.length > 0)
    const [, path = assert.fail("there is no link")] =
      /^Acknowledge for 1h: https:\/\/example\.org(\S+)$/mu.exec(messages.join()) ?? []
    await listening(express().use(monitor.node), async (base) => {
      const press = async (method: string) => {
        const response = await fetch(base + path, { method })
        return `${response.status} ${await response.text()}`
      }
      assert.match(await press("GET"), /^200 [^]*<button>Acknowledge for 1h/)
      assert.match(await press("POST"), /^200 [^]*Acknowledged by link:phone/)
      await monitor.setPolicy({ receivers: { phone } })
      for (const method of ["GET", "POST"]) assert.match(await press(method), /^410 /)
      // A page of the policy is the monitor's; any other path of that name is the program's.
      const disk = { name: "Disk", match: ["check_id = disk"] }
      const groups = [{ title: "a", lines: [disk] as const }] as const
      await monitor.setPolicy({ receivers: { phone }, pages: { shop: { title: "Shop", groups } } })
      const shop = await fetch(`${base}/tocsin/status/shop.json`)
      assert.nestedInclude(await shop.json(), { title: "Shop", "groups[0].lines[0].state": "down" })
      assert.include(await (await fetch(`${base}/tocsin/status/other`)).text(), "Cannot GET")
      for (const path of [
        "ping/KEY/job",
        "push/KEY",
        "alertmanager/KEY/api/v2/alerts",
        "webhook/KEY",
        "pagerduty/KEY/v2/enqueue",
      ]) {
        const ours = `${base}/tocsin/in/${path.replace("KEY", `in_${"a".repeat(43)}`)}`
        const method = path.endsWith("job") || path.startsWith("push") ? "GET" : "POST"
        assert.notInclude(await (await fetch(ours, { method })).text(), "Cannot", path)
      }
    })
    vi.unstubAllEnvs()
    chat.closeAllConnections()
    chat.close()
  })

  it("outlives clients that go away in the middle", async () => {
    await using monitor = await start()
    await listening(monitor.node, async (base, server) => {
      const gone = httpRequest({
        port: portOf(server),
        path: "/api/v1/heartbeat",
        method: "POST",
        headers: { authorization: `Bearer ${keyOf("a")}`, "content-length": 1_000 },
      })
      gone.on("error", () => {})
      gone.write('{"agent_id":')
      await once(server, "request")
      gone.destroy()
      await conversation(base, monitor)
    })
  })

  it("counts registrations by the client's address, through trusted proxies too", async () => {
    await using monitor = await start({ registrationRate: { perMinute: 1, burst: 1 }, trustedProxies: 1 })
    await listening(monitor.node, async (base) => {
      const register = (agent: string, from: string) =>
        fetch(`${base}/api/v1/heartbeat`, {
          method: "POST",
          headers: { authorization: `Bearer ${keyOf(agent)}`, "x-forwarded-for": from },
          body: JSON.stringify(heartbeatOf(agent)),
        })
      assert.strictEqual((await register("a", "192.0.2.1")).status, 202)
      assert.strictEqual((await register("b", "192.0.2.1")).status, 429)
      assert.strictEqual((await register("c", "192.0.2.2")).status, 202)
    })
  })

  it("holds one answer at most for a connection that does not read", async () => {
    await using monitor = await start()
    const answers: Array<ServerResponse> = []
    const noting: RequestListener = (request, response) => {
      answers.push(response)
      monitor.node(request, response)
    }
    await listening(noting, async (base, server) => {
      const document = await (await fetch(`${base}/openapi.json`)).bytes()
      // More than the system's own buffers of a connection take.
      const most = Math.ceil((32 * 1_048_576) / document.length)
      const asked = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(most)
      const socket = connect(portOf(server), "127.0.0.1").pause()
      socket.write(asked)
      // That of the document, too.
      await until(() => answers.length === most + 1)
      await turns(1_000)
      const held = answers.reduce((sum, { writableLength }) => sum + writableLength, 0)
      assert.isBelow(held, 2 * document.length)
      let bytes = 0
      socket.on("data", (part) => (bytes += part.length)).resume()
      await until(() => bytes > most * document.length)
      socket.destroy()
    })
  })

  it("serves a Unix socket, which has no addresses", async () => {
    await using monitor = await start()
    const folder = mkdtempSync(join(tmpdir(), "tocsin-"))
    const socketPath = join(folder, "http")
    const server = createServer(monitor.node).listen(socketPath)
    try {
      await once(server, "listening")
      const [response] = (await once(
        httpRequest({ socketPath, path: "/api/v1/health" }).end(),
        "response",
      )) as [IncomingMessage]
      assert.strictEqual(response.statusCode, 200)
    } finally {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    }
  })

  it.each([
    ["the API", (monitor: Monitor): RequestListener => monitor.node],
    ["a body parser", (monitor: Monitor): RequestListener => express().use(express.json(), monitor.node)],
  ])("does not take in what comes to %s on connections that are reset", async (_, listenerOf) => {
    await using monitor = await start()
    await listening(listenerOf(monitor), async (base, server) => {
      const body = JSON.stringify(heartbeatOf("a"))
      resetRequests(
        portOf(server),
        Array.from(
          { length: 20 },
          (_, index) =>
            "POST /api/v1/heartbeat HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
            `Authorization: Bearer ${keyOf(`a-${index}`)}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        ),
      )
      assert.strictEqual((await fetch(`${base}/api/v1/health`)).status, 200)
      assert.deepStrictEqual(await collect(monitor.agents.all()), [])
    })
  })

  it("is told when the monitor is closed", async () => {
    const monitor = await start()
    await listening(monitor.node, async (base) => {
      await monitor.close()
      const response = await fetch(`${base}/api/v1/health`)
      assert.strictEqual(response.status, 503)
      assert.deepInclude(((await response.json()) as { error: object }).error, { code: "not_ready" })
    })
  })
})

it("a monitor leaves the program's standard input alone", async () => {
  const before = process.stdin.listenerCount("end")
  await using _monitor = await start()
  assert.strictEqual(process.stdin.listenerCount("end"), before)
})

describe("Express", () => {
  const appOf = (monitor: Monitor, path: string) =>
    express()
      .use(path, monitor.node)
      .get("/hello", (_request, response) => void response.send("hello"))

  it.each(["/", "/monitoring", "/a/b"])("mounted at %s", async (path) => {
    await using monitor = await start()
    await listening(appOf(monitor, path), async (base) => {
      await conversation(path === "/" ? base : `${base}${path}`, monitor)
      assert.strictEqual(await (await fetch(`${base}/hello`)).text(), "hello")
      assert.strictEqual((await fetch(`${base}/nowhere`)).status, 404)
    })
  })

  it("leaves paths outside of basePath to the app, also those of Tocsin's names", async () => {
    await using monitor = await start({
      basePath: "/monitoring",
      metrics: "open",
      console: { script: "x", style: "x" },
    })
    const own = ["/", "/docs", "/openapi.json", "/metrics", "/api/v1/health", "/monitoringx/api/v1/health"]
    const app = express().use(monitor.node)
    for (const path of own) app.get(path, (_request, response) => void response.send("the app's own"))
    await listening(app, async (base) => {
      for (const path of own)
        assert.strictEqual(await (await fetch(`${base}${path}`)).text(), "the app's own", path)
      for (const path of ["/", "/docs", "/openapi.json", "/metrics", "/api/v1/health"])
        assert.strictEqual((await fetch(`${base}/monitoring${path}`)).status, 200, path)
      assert.strictEqual((await fetch(`${base}/nowhere`)).status, 404)
    })
  })

  it("mounted at the path that basePath states too", async () => {
    await using monitor = await start({ basePath: "/monitoring" })
    await listening(appOf(monitor, "/monitoring"), async (base) => {
      await conversation(`${base}/monitoring`, monitor)
      assert.strictEqual((await fetch(`${base}/api/v1/health`)).status, 404)
    })
  })

  it("behind express.json(), text() and raw(), whose limits then count", async () => {
    const parsers = [
      express.json({ limit: "2mb" }),
      express.text({ limit: "2mb", type: "*/*" }),
      express.raw({ limit: "2mb", type: "*/*" }),
    ]
    for (const parser of parsers) {
      await using monitor = await start()
      await listening(express().use(parser).use("/monitoring", monitor.node), async (base) => {
        await conversation(`${base}/monitoring`, monitor)
        const refused = await post(`${base}/monitoring/api/v1/events`, tooLarge.replaceAll('"x', '["x') + "]")
        assert.include([400, 413], refused.status)
        const invalid = await post(`${base}/monitoring/api/v1/heartbeat`, '{"agent_id":"a"}')
        assert.deepInclude(((await invalid.json()) as { error: object }).error, {
          code: "validation",
          message: "observed_at is missing",
        })
      })
    }
  })

  it("knows the client's address, and refuses before it reads, for a body that was parsed", async () => {
    await using monitor = await start({ registrationRate: { perMinute: 1, burst: 1 } })
    await listening(express().use(express.json(), monitor.node), async (base) => {
      const register = (agent: string) =>
        post(`${base}/api/v1/heartbeat`, JSON.stringify(heartbeatOf(agent)), keyOf(agent))
      assert.strictEqual((await register("a")).status, 202)
      assert.strictEqual((await register("b")).status, 429)
      assert.strictEqual((await post(`${base}/api/v1/heartbeat`, "{}", "two words")).status, 401)
      assert.strictEqual((await register("a")).status, 202)
    })
  })

  it("says what is wrong where a body was read and thrown away", async () => {
    await using monitor = await start()
    const app = express()
      .use((request, _response, next) => void request.resume().on("end", next))
      .use(monitor.node)
    await listening(app, async (base) => {
      const response = await post(`${base}/api/v1/heartbeat`, JSON.stringify(heartbeatOf("a")))
      assert.strictEqual(response.status, 500)
      assert.match(await response.text(), /mount Tocsin before what parses bodies/)
    })
  })
})

describe("hosts of the examples", () => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-hosts-"))
  afterAll(() => rmSync(folder, { recursive: true }))

  it("Fastify", async () => {
    await using monitor = await start({ basePath: "/monitoring" })
    const app = fastify.makeApp(monitor)
    const base = await app.listen({ port: 0, host: "127.0.0.1" })
    await conversation(`${base}/monitoring`, monitor)
    assert.strictEqual(await (await fetch(base)).text(), "hello")
    const view = await fetch(`${base}/monitoring/ops/v1/stream`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    assert.strictEqual(view.status, 200)
    // Fastify waits for the live view, which ends with the monitor.
    await app.close()
    await view.text()
  })

  it("Hono", async () => {
    const { app, monitor } = await hono.makeApp(join(folder, "hono.db"), [TOKEN])
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" })
    await once(server, "listening")
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await conversation(`${base}/monitoring`, monitor)
    assert.strictEqual(await (await fetch(base)).text(), "hello")
    await monitor.close()
    server.close()
  })

  it("a route of Next.js", async () => {
    process.env["MONITORING_FILE"] = join(folder, "missing", "next.db")
    process.env["MONITORING_TOKENS"] = TOKEN
    const { DELETE, GET, OPTIONS, PATCH, POST, PUT } = await import("@tocsin/examples/next/route")
    const { monitor } = await import("@tocsin/examples/next/monitor")
    await expect(monitor()).rejects.toThrow("missing")
    // The next request tries again.
    process.env["MONITORING_FILE"] = join(folder, "next.db")
    const call = (handle: typeof GET, path: string, init: RequestInit) =>
      // Next.js passes more than the request; it must do no harm.
      (handle as (request: Request, context: object) => Promise<Response>)(
        new Request(`http://host/monitoring${path}`, init),
        { params: Promise.resolve({ path: [] }) },
      )
    const agent = { authorization: `Bearer ${keyOf("a")}` }
    const operator = { authorization: `Bearer ${TOKEN}` }
    const body = JSON.stringify(heartbeatOf("a"))
    assert.strictEqual(
      (await call(POST, "/api/v1/heartbeat", { method: "POST", headers: agent, body })).status,
      202,
    )
    const listed = await call(GET, "/api/v1/agents", { headers: operator })
    assert.lengthOf(((await listed.json()) as { items: Array<object> }).items, 1)
    const options = await call(OPTIONS, "/api/v1/agents", { method: "OPTIONS" })
    assert.isTrue(options.headers.has("x-request-id"), "Tocsin answers, and not Next.js")
    const operators = "/ops/v1/operators"
    const added = await call(POST, operators, {
      method: "POST",
      headers: operator,
      body: JSON.stringify({ name: "ada", role: "read" }),
    })
    assert.strictEqual(added.status, 201)
    const changed = await call(PATCH, `${operators}/ada`, {
      method: "PATCH",
      headers: operator,
      body: JSON.stringify({ role: "admin" }),
    })
    assert.strictEqual(changed.status, 200)
    const expected = await call(PUT, "/ops/v1/agents/a/expectations", {
      method: "PUT",
      headers: agent,
      body: JSON.stringify({ checks: [{ check_id: "backup", every: "1d" }] }),
    })
    // The agent is not accepted yet.
    assert.strictEqual(expected.status, 403)
    const removed = await call(DELETE, "/api/v1/agents/a", { method: "DELETE", headers: operator })
    assert.deepStrictEqual(await removed.json(), { count: 1 })
    await (await monitor()).close()
  })
})

describe("fetch", () => {
  it("takes requests of the web, whose bodies can be read once", async () => {
    await using monitor = await start()
    const request = (body: string) =>
      new Request("http://host/api/v1/heartbeat", {
        method: "POST",
        headers: { authorization: `Bearer ${keyOf("a")}` },
        body,
      })
    assert.strictEqual((await monitor.fetch(request(JSON.stringify(heartbeatOf("a"))))).status, 202)
    assert.strictEqual((await monitor.fetch(request(tooLarge))).status, 413)
    const used = request("{}")
    await used.text()
    assert.strictEqual((await monitor.fetch(used)).status, 500)
    await enroll(monitor, "b")
    await send(monitor, "b", resultOf("ok"))
    assert.lengthOf(await collect(monitor.checks.all()), 1)
  })

  it("refuses everyone the operators' part where there are no tokens", async () => {
    await using monitor = await start({ operatorTokens: undefined })
    const headers = { authorization: `Bearer ${TOKEN}` }
    assert.strictEqual(
      (await monitor.fetch(new Request("http://host/api/v1/agents", { headers }))).status,
      401,
    )
  })
})
