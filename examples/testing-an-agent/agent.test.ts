// An agent against a real monitor whose clock the test moves: node --test agent.test.ts
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { createTestMonitor, type TestMonitor } from "tocsin/testing"
import { Agent } from "./agent.ts"

const serve = async (monitor: TestMonitor, wanted = 0) => {
  const server = createServer(monitor.node).listen(wanted, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, stop: () => server.close().closeAllConnections() }
}

test("results from before the acceptance arrive after it, and people are told once", async () => {
  await using monitor = await createTestMonitor()
  const { url, stop } = await serve(monitor)
  const agent = new Agent({ url, agentId: "web-1", key: "a-key-of-its-own", now: monitor.now })

  assert.equal(await agent.heartbeat(), false)
  await agent.report("disk", "critical", "97% used")
  assert.equal((await monitor.summary()).checks_critical, 0)

  await monitor.agents.accept("web-1")
  await agent.report("disk", "critical", "98% used")
  await monitor.settle()
  assert.deepEqual(
    monitor.notifications.map(({ event_type, severity }) => [event_type, severity]),
    [["firing", "critical"]],
  )
  stop()
})

test("an agent that falls silent is noticed after five minutes, and its return after none", async () => {
  await using monitor = await createTestMonitor({ deadAfter: "5m" })
  const { url, stop } = await serve(monitor)
  const agent = new Agent({ url, agentId: "web-1", key: "a-key-of-its-own", now: monitor.now })
  await agent.heartbeat()
  await monitor.agents.accept("web-1")

  await monitor.advance("4m")
  assert.equal(monitor.notifications.length, 0)
  await monitor.advance("2m")
  assert.match(monitor.notifications[0]?.text ?? "", /no contact with web-1/)
  await agent.heartbeat()
  await monitor.settle()
  assert.equal(monitor.notifications[1]?.event_type, "resolved")
  stop()
})

test("the agent sends an unsent result later, and it counts once", async () => {
  await using monitor = await createTestMonitor()
  const { url, port, stop } = await serve(monitor)
  const agent = new Agent({ url, agentId: "web-1", key: "a-key-of-its-own", now: monitor.now })
  await agent.heartbeat()
  await monitor.agents.accept("web-1")
  stop()
  await agent.report("disk", "critical", "97% used")
  await monitor.advance("1m")

  const again = await serve(monitor, port)
  await agent.report("disk", "ok", "40% used")
  const { items } = await monitor.history.list({ check_id: "disk" })
  assert.deepEqual(
    items.map(({ status }) => status),
    ["ok", "critical"],
  )
  again.stop()
})
