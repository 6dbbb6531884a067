import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import express from "express"
import { createMonitor, memory, type MonitorOptions } from "tocsin"
import { enroll, keyOf, resultOf, send } from "../library/requests.ts"
import { parseExposition, valueOf } from "./Exposition.ts"

const TOKEN = "operators-token"
const SCRAPER = "scrapers-token"

const start = (options: Partial<MonitorOptions> = {}) =>
  createMonitor({ storage: memory(), log: false, notifiers: [], operatorTokens: [TOKEN], ...options })

const request = (token?: string) =>
  new Request("http://localhost/metrics", {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })

describe("metrics of a monitor", () => {
  it("are served at the configured path, to the configured tokens", async () => {
    await using none = await start()
    await using own = await start({ metrics: true })
    await using open = await start({ metrics: "open" })
    await using withToken = await start({ metrics: { token: SCRAPER } })
    const statuses = async (monitor: typeof own) => {
      const answers = await Promise.all(
        [undefined, TOKEN, SCRAPER].map((token) => monitor.fetch(request(token))),
      )
      return answers.map(({ status }) => status)
    }
    assert.deepStrictEqual(await statuses(none), [404, 404, 404])
    assert.deepStrictEqual(await statuses(own), [401, 200, 401])
    assert.deepStrictEqual(await statuses(open), [200, 200, 200])
    assert.deepStrictEqual(await statuses(withToken), [401, 200, 200])
  })

  it("count the work of this monitor alone, by methods and by HTTP", async () => {
    await using one = await start({ metrics: "open" })
    await using other = await start({ metrics: "open" })
    await enroll(one, "web-1")
    await send(one, "web-1", resultOf("critical"), resultOf("critical"))
    await one.fetch(
      new Request("http://localhost/api/v1/events", {
        method: "POST",
        headers: { authorization: `Bearer ${keyOf("web-1")}` },
        body: JSON.stringify({ agent_id: "web-1", events: [resultOf("ok")] }),
      }),
    )
    const told = parseExposition(await (await one.fetch(request())).text())
    assert.strictEqual(valueOf(told, "tocsin_heartbeats_total"), 1)
    assert.strictEqual(valueOf(told, "tocsin_check_results_total", { outcome: "changed" }), 2)
    assert.strictEqual(valueOf(told, "tocsin_agents", { status: "alive" }), 1)
    assert.strictEqual(
      valueOf(told, "tocsin_http_requests_total", { route: "/api/v1/events", status: "202" }),
      1,
    )
    const ofOther = parseExposition(await (await other.fetch(request())).text())
    assert.strictEqual(valueOf(ofOther, "tocsin_heartbeats_total"), 0)
    assert.strictEqual(valueOf(ofOther, "tocsin_agents"), 0)
  })

  it.each(["/api/v1/agents", "/ops/v1/me"])(
    "count what an address is refused at %s beyond its budget: each request still gets 401",
    async (path) => {
      await using monitor = await start({ metrics: "open" })
      const server = createServer(monitor.node).listen(0, "127.0.0.1")
      await once(server, "listening")
      // A server that listens on TCP has such an address.
      const { port } = server.address() as AddressInfo
      const answers: Array<string> = []
      try {
        // A budget of 60 fills by one a second, so a slow machine is refused later.
        while (answers.at(-1) !== "401 close" && answers.length < 3_600) {
          const { headers, status } = await fetch(`http://127.0.0.1:${port}${path}`)
          answers.push(`${status} ${headers.get("connection")}`)
        }
      } finally {
        server.closeAllConnections()
        server.close()
      }
      const taken = answers.slice(0, -1)
      assert.isAtLeast(taken.length, 60)
      assert.deepStrictEqual(Array.from(new Set(taken)), ["401 keep-alive"])
      const counted = parseExposition(await (await monitor.fetch(request())).text())
      const reason = "failed_authentication"
      assert.strictEqual(valueOf(counted, "tocsin_throttled_requests_total", { reason }), 1)
      assert.strictEqual(valueOf(counted, "tocsin_failed_authentications_total"), answers.length)
    },
  )

  it("are at /metrics of a host only if configured", async () => {
    await using none = await start()
    await using open = await start({ metrics: "open" })
    for (const [monitor, expected] of [
      [none, "the host's own"],
      [open, "# HELP tocsin_storage_up"],
    ] as const) {
      const app = express()
      app.use(monitor.node)
      app.get("/metrics", (_request, response) => void response.send("the host's own"))
      const server = createServer(app).listen(0, "127.0.0.1")
      await once(server, "listening")
      try {
        // A server that listens on TCP has such an address.
        const { port } = server.address() as AddressInfo
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
        assert.isTrue(text.startsWith(expected), text.slice(0, 80))
      } finally {
        server.closeAllConnections()
        server.close()
      }
    }
  })

  it("refuse an invalid token", async () => {
    // Options that a program without types may give.
    for (const metrics of [{ token: "two words" }, { token: "" }, {}, 1, "closed"] as Array<never>) {
      const refused = await start({ metrics }).catch((error: unknown) => error)
      assert.match(String(refused), /metrics must be true, false, "open" or \{ token \}/)
    }
  })
})
