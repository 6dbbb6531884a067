import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { createMonitor, memory } from "tocsin"
import { MemoryStorage, Queries, Tocsin } from "tocsin/effect"
import { Effect, Layer } from "effect"
import { watch, watching } from "@tocsin/examples/effect/program"
import { until } from "./requests.ts"

const node = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}, cwd?: string) => {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, cwd })
  const output = { text: "" }
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      output.text += data.toString()
    })
  return { child, output }
}

describe("examples", () => {
  it("express: a notification from an empty app in less than 20 lines", async () => {
    const path = "examples/express/app.ts"
    const lines = readFileSync(path, "utf8").split("\n")
    assert.isBelow(lines.filter((line) => line.trim() !== "" && !line.startsWith("//")).length, 20)
    const { child, output } = node([path], { PORT: "0" })
    await until(() => output.text.includes("listening on"))
    const port = /port: (\d+)/.exec(output.text)?.[1] ?? ""
    const get = async (page: string) => (await fetch(`http://127.0.0.1:${port}${page}`)).json()
    assert.deepStrictEqual(await get("/break"), "reported")
    await until(() => output.text.includes("CRITICAL: shop/orders\nno order for an hour"))
    await get("/fixed")
    await until(() => output.text.includes("RESOLVED: shop/orders"))
    assert.deepStrictEqual(await get("/monitoring/api/v1/health"), { status: "ok" })
    child.kill()
    await once(child, "close")
  })

  it("reporting: a program makes its key, is accepted, and sends what waits before it ends", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "tocsin-reporting-"))
    await using monitor = await createMonitor({ storage: memory(), log: false })
    const server = createServer(monitor.node).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const start = () =>
      node([resolve("examples/reporting/shop.ts")], { TOCSIN_URL: `http://127.0.0.1:${port}` }, cwd)
    const first = start()
    await until(() => first.output.text.includes("accept it"))
    const { key_fingerprint } = await monitor.agents.get("shop")
    assert.include(first.output.text, `compare the fingerprint ${key_fingerprint}`)
    assert.strictEqual(statSync(join(cwd, "shop.key")).mode & 0o777, 0o600)
    first.child.kill("SIGTERM")
    assert.deepStrictEqual(await once(first.child, "close"), [0, null])
    assert.include(first.output.text, "loses the reports that the server has not taken: 2")
    await monitor.agents.accept("shop")
    const second = start()
    await until(() => second.output.text.includes("accepts what is sent"))
    second.child.kill("SIGTERM")
    assert.deepStrictEqual(await once(second.child, "close"), [0, null])
    const { items } = await monitor.checks.expected.list()
    assert.deepStrictEqual(
      items.map(({ check_id, status, summary }) => [check_id, status, summary]),
      [
        ["deploy", "critical", "version 7 does not start"],
        ["orders", "ok", "12 orders today"],
      ],
    )
    server.closeAllConnections()
    server.close()
    rmSync(cwd, { recursive: true })
  })

  it("testing an agent: its tests pass", async () => {
    const { child, output } = node(["--test", "examples/testing-an-agent/agent.test.ts"])
    const [code] = await once(child, "close")
    assert.strictEqual(code, 0, output.text)
    assert.match(output.text, /pass 3/)
  })

  it.live("effect: a program of layers", () =>
    Effect.gen(function* () {
      const { summary } = yield* Queries
      assert.strictEqual((yield* summary).open_incidents, 0)
      yield* Layer.build(watching)
      yield* Effect.timeoutOption(watch, "50 millis")
    }).pipe(Effect.provide(Tocsin.layer({ storage: MemoryStorage.layer }))),
  )
})
