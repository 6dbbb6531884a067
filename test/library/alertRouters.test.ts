import { createServer } from "node:http"
import { json } from "node:stream/consumers"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { createMonitor, memory, sqlite, type MonitorOptions } from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { enroll, resultOf, send, until } from "./requests.ts"

type Posted = ReadonlyArray<{ readonly labels: { readonly severity: string }; readonly endsAt: string }>

/** Two Alertmanagers, and what each got: the severity of each alert, and whether it fires. */
const listen = async () => {
  const got = { first: Array.of<string>(), second: Array.of<string>() }
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      if (request.url === "/down") return response.writeHead(503).end()
      const router = request.url?.startsWith("/first/") ? got.first : got.second
      for (const { endsAt, labels } of body as Posted)
        router.push(`${labels.severity} ${Date.parse(endsAt) > Date.now() ? "fires" : "ended"}`)
      return response.writeHead(200).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise((resolve) => server.close(resolve))
  return { got, origin: `http://127.0.0.1:${port}`, close }
}

const STORAGES: ReadonlyArray<readonly [string, () => MonitorOptions["storage"]]> = [
  ["memory", memory],
  ["SQLite", () => sqlite(":memory:")],
]

describe("two receivers of the kind alert_router", () => {
  it.each(STORAGES)("get and end their own alerts: %s", async (_, storage) => {
    const { close, got, origin } = await listen()
    const addresses = ["first", "second"] as const
    for (const name of addresses) process.env[`ROUTER_${name}`] = `${origin}/${name}`
    try {
      await using monitor = await createMonitor({
        storage: storage(),
        log: false,
        policy: {
          receivers: {
            alert_router: { kind: "alert_router", url_env: "ROUTER_first" },
            second: { kind: "alert_router", url_env: "ROUTER_second" },
          },
          routes: [
            { match: ["check_id = disk"], to: ["alert_router"] },
            { match: ["check_id = disk", "severity = critical"], to: ["second"] },
          ],
        },
      })
      await enroll(monitor, "a")
      const turns = (status: "ok" | "warning" | "critical", notifications_enabled = true) =>
        send(monitor, "a", resultOf(status, { notifications_enabled }))
      const have = async (first: ReadonlyArray<string>, second: ReadonlyArray<string>) => {
        await until(() => got.first.length === first.length && got.second.length === second.length)
        assert.deepStrictEqual(
          [got.first.splice(0).toSorted(), got.second.splice(0).toSorted()],
          [first, second],
        )
      }
      await turns("warning")
      await have(["warning fires"], [])
      await turns("critical")
      await have(["critical fires", "critical fires", "warning ended"], ["critical fires"])
      // Silent changes enqueue nothing: each receiver's alerts alone follow them.
      await turns("warning", false)
      await have(["critical ended", "warning fires"], ["critical ended", "warning fires"])
      await turns("ok", false)
      await have(["warning ended"], ["warning ended"])
    } finally {
      for (const name of addresses) delete process.env[`ROUTER_${name}`]
      await close()
    }
  })
})

describe("a receiver that becomes an alert_router", () => {
  it("gets the firing that waited for it again every minute", async () => {
    const { close, got, origin } = await listen()
    process.env["ROUTER"] = `${origin}/first`
    process.env["HOOK"] = `${origin}/down`
    try {
      const routes = [{ to: ["ops"] }] as const
      await using monitor = await createTestMonitor({
        policy: { receivers: { ops: { kind: "messenger", url_env: "HOOK" } }, routes },
      })
      await enroll(monitor, "a")
      const isIn = async (state: "retry" | "sent") => {
        const [item] = (await monitor.outbox.list()).items
        return item?.state === state
      }
      await send(monitor, "a", resultOf("critical"))
      await until(() => isIn("retry"))
      await monitor.setPolicy({ receivers: { ops: { kind: "alert_router", url_env: "ROUTER" } }, routes })
      await monitor.advance("10s")
      await until(() => isIn("sent"))
      assert.lengthOf(got.first, 1)
      await monitor.advance("65s")
      await until(() => got.first.length === 2)
    } finally {
      delete process.env["ROUTER"]
      delete process.env["HOOK"]
      await close()
    }
  })
})
