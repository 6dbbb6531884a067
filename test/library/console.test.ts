import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import express from "express"
import { createMonitor, isTocsinError, memory } from "tocsin"
import { consoleFiles } from "tocsin/console"

const HTML = { headers: { accept: "text/html" } }

describe("the console of a monitor in a program", () => {
  it("is below the program's path, with its files and the state of the service", async () => {
    const files = await consoleFiles()
    await using monitor = await createMonitor({
      storage: memory(),
      log: false,
      notifiers: [],
      basePath: "/monitoring",
      trustedProxies: 1,
      console: files,
    })
    const server = createServer((request, response) =>
      monitor.node(request, response, () => response.writeHead(404).end("the program's own")),
    ).listen(0, "127.0.0.1")
    await once(server, "listening")
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const page = await fetch(`${base}/monitoring/`, HTML)
      const text = await page.text()
      assert.include(page.headers.get("content-security-policy") ?? "", "default-src 'none'")
      assert.strictEqual(page.headers.get("cross-origin-opener-policy"), "same-origin")
      const [, script = ""] = /src="([^"]+)"/.exec(text) ?? []
      const loaded = await fetch(new URL(script, `${base}/monitoring/`))
      assert.strictEqual(await loaded.text(), files.script)
      const state = await (await fetch(`${base}/monitoring/`)).json()
      assert.include(state as object, { service: "tocsin", version: "embedded" })
      assert.strictEqual(await (await fetch(`${base}/other`, HTML)).text(), "the program's own")
      const web = await monitor.fetch(new Request("http://host/monitoring/", HTML))
      assert.strictEqual(await web.text(), text)

      // Next.js takes the slash at the end off.
      const bare = await fetch(`${base}/monitoring?from=mail`, HTML)
      const [, relative = ""] = /src="([^"]+)"/.exec(await bare.text()) ?? []
      assert.strictEqual(new URL(relative, bare.url).href, loaded.url)
      const bareWeb = await monitor.fetch(new Request("http://host/monitoring", HTML))
      assert.include(await bareWeb.text(), `src="${relative}"`)
      const headers = { ...HTML.headers, "x-forwarded-prefix": "/ops" }
      const stripped = await fetch(`${base}/monitoring`, { headers })
      assert.include(await stripped.text(), 'src="/ops/monitoring/console/app.js')
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it("is where Express mounts it, with and without a slash at the end", async () => {
    const options = { storage: memory(), log: false, notifiers: [], console: await consoleFiles() } as const
    await using monitor = await createMonitor(options)
    const server = express().use("/ops/monitoring", monitor.node).listen(0, "127.0.0.1")
    await once(server, "listening")
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ops/monitoring`
    for (const path of [base, `${base}/`, `${base}?from=mail`]) {
      const page = await fetch(path, HTML)
      const [, script = ""] = /src="([^"]+)"/.exec(await page.text()) ?? []
      const loaded = await fetch(new URL(script, page.url))
      assert.include(loaded.headers.get("content-type") ?? "", "text/javascript", path)
    }
    server.closeAllConnections()
    server.close()
  })

  it("is not there unless given, and takes nothing else", async () => {
    await using monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
    assert.strictEqual((await monitor.fetch(new Request("http://host/", HTML))).status, 404)
    try {
      // Options that a caller without types may pass.
      const wrong = { storage: memory(), console: true } as unknown as Parameters<typeof createMonitor>[0]
      await using _ = await createMonitor(wrong)
      assert.fail("it was not refused")
    } catch (error) {
      assert.isTrue(isTocsinError(error) && error.message.includes("consoleFiles()"))
    }
  })
})
