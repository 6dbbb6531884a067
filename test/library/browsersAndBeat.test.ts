import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { createMonitor, isTocsinError, memory, type MonitorOptions } from "tocsin"

const ORIGIN = "https://dashboard.example"

const start = (options: Partial<MonitorOptions> = {}) =>
  createMonitor({ storage: memory(), log: false, notifiers: [], ...options })

const refusalOf = async (options: object): Promise<string> => {
  try {
    // Options that a caller without types may pass.
    await using _ = await start(options as Partial<MonitorOptions>)
  } catch (error) {
    if (isTocsinError(error)) return error.message
    throw error
  }
  throw new Error("it was not refused")
}

describe("allowedOrigins", () => {
  it("lets their pages read what fetch and node answer", async () => {
    await using monitor = await start({ allowedOrigins: [ORIGIN] })
    const headers = { origin: ORIGIN, "access-control-request-method": "POST" }
    const request = new Request("http://host/api/v1/heartbeat", { method: "OPTIONS", headers })
    const preflight = await monitor.fetch(request)
    assert.deepStrictEqual(
      [preflight.status, preflight.headers.get("access-control-allow-origin")],
      [204, ORIGIN],
    )
    const server = createServer(monitor.node).listen(0, "127.0.0.1")
    await once(server, "listening")
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      for (const body of ["{", "{}"]) {
        const answer = await fetch(`${base}/api/v1/heartbeat`, {
          method: "POST",
          headers: { origin: ORIGIN, authorization: "Bearer key" },
          body,
        })
        assert.deepStrictEqual(
          [answer.status, answer.headers.get("access-control-allow-origin")],
          [400, ORIGIN],
        )
      }
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it("is none unless given", async () => {
    await using monitor = await start()
    const answer = await monitor.fetch(
      new Request("http://host/api/v1/health", { headers: { origin: ORIGIN } }),
    )
    assert.isNull(answer.headers.get("access-control-allow-origin"))
    assert.isNull(answer.headers.get("vary"))
  })

  it("takes origins as browsers send them", async () => {
    for (const allowedOrigins of [[], [`${ORIGIN}/`], ["*", ORIGIN], [7], ORIGIN]) {
      assert.match(await refusalOf({ allowedOrigins }), /^allowedOrigins must be an array of origins such as/)
    }
    assert.include(
      await refusalOf({ allowedOrigins: [`${ORIGIN}:443`] }),
      `"${ORIGIN}:443" is not how browsers send it: write ${ORIGIN}`,
    )
  })
})

describe("watchdog", () => {
  it("is sent while the monitor runs, and not when it closes", async () => {
    const heard: Array<string> = []
    const server = createServer((incoming, response) => {
      heard.push(`${incoming.method} ${incoming.url}`)
      response.end()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ping`
      const monitor = await start({ watchdog: { url, interval: 20 } })
      while (heard.length < 3) await once(server, "request")
      await monitor.close()
      assert.deepStrictEqual(new Set(heard), new Set(["GET /ping"]))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it("takes an address that notifiers could have, and does not repeat it", async () => {
    for (const watchdog of [{}, { url: "secret" }, { url: "ftp://secret/" }, { url: 7 }]) {
      const message = await refusalOf({ watchdog })
      assert.match(message, /^watchdog\.url must be a URL that begins with http/)
      assert.notInclude(message, "secret")
    }
    assert.match(
      await refusalOf({ watchdog: { url: "http://127.0.0.1/" }, denyPrivateTargets: true }),
      /^watchdog\.url must not be .* nor a private one$/,
    )
    assert.match(
      await refusalOf({ watchdog: { url: "http://hc.example/", interval: 0 } }),
      /^watchdog\.interval must be a duration such as/,
    )
  })
})
