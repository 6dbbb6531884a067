import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { createMonitor, memory } from "tocsin"
import { createAgent, createClient } from "tocsin/client"
import { collect, enroll, resultOf, send, until } from "./requests.ts"

const TOKEN = "operators-token"

it("tocsin/client reads over HTTP what the library gives in process", async () => {
  await using monitor = await createMonitor({
    storage: memory(),
    log: false,
    notifiers: [],
    operatorTokens: [TOKEN],
  })
  const server = createServer(monitor.node).listen(0, "127.0.0.1")
  await once(server, "listening")
  const client = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
  })
  await enroll(monitor, "a", "b")
  await send(monitor, "a", resultOf("critical"))
  const incidents = await collect(monitor.incidents.all())
  const id = incidents[0]?.id ?? ""
  assert.deepStrictEqual(await collect(client.agents.all()), await collect(monitor.agents.all()))
  assert.deepStrictEqual(await collect(client.checks.all()), await collect(monitor.checks.all()))
  assert.deepStrictEqual(await collect(client.history.all()), await collect(monitor.history.all()))
  assert.deepStrictEqual(await collect(client.incidents.all()), incidents)
  assert.deepStrictEqual(await client.incidents.get(id), await monitor.incidents.get(id))
  server.closeAllConnections()
  server.close()
})

it("an agent that is accepted just before it closes delivers what it reported, and nothing afterwards", async () => {
  await using monitor = await createMonitor({ storage: memory(), log: false, notifiers: [] })
  const server = createServer(monitor.node).listen(0, "127.0.0.1")
  await once(server, "listening")
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const agent = createAgent({ baseUrl, agentId: "job", agentKey: "key-of-job", log: false })
  agent.report("orders", "critical", "first")
  agent.report("orders", "ok", "then")
  await until(() => agent.state().admission === "pending")
  await monitor.agents.accept("job")
  assert.deepStrictEqual(await agent.close(), { delivered: 2, dropped: 0 })
  assert.lengthOf(await collect(monitor.history.all()), 2)
  agent.report("orders", "ok", "late")
  assert.strictEqual(agent.state().dropped, 1)
  server.closeAllConnections()
  server.close()
})
