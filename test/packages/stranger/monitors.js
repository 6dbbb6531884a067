// Plain JavaScript, as in a service of somebody's: each storage, the client, and the monitor for tests.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { createMonitor, memory, newEventId, postgres, sqlite, TocsinError } from "tocsin"
import { createClient } from "tocsin/client"
import { createTestMonitor } from "tocsin/testing"

const TOKEN = "operators-token"
const KEY = "key-of-web-1"

/** @type {import("tocsin").HeartbeatRequest} */
const heartbeat = {
  agent_id: "web-1",
  observed_at: new Date().toISOString(),
  hostname: "web-1.example",
  features: { push: true, metrics: false },
}

/** @returns {import("tocsin").EventBatchRequest} */
const critical = () => ({
  agent_id: "web-1",
  events: [
    {
      event_id: newEventId(),
      check_id: "disk",
      observed_at: new Date().toISOString(),
      status: "critical",
      exit_code: 2,
      duration_ms: 12,
      output: "DISK CRITICAL",
    },
  ],
})

/** @param {import("tocsin").StorageChoice} storage */
const tellOfAnIncident = async (storage) => {
  /** @type {Array<string>} */
  const told = []
  const { promise: isNotified, resolve } = Promise.withResolvers()
  const pager = {
    name: "pager",
    send: (/** @type {import("tocsin").Notification} */ { text }) => resolve(told.push(text)),
  }
  await using monitor = await createMonitor({
    storage,
    notifiers: [pager],
    operatorTokens: [TOKEN],
    log: false,
  })
  await monitor.heartbeat(KEY, heartbeat)
  await assert.rejects(
    monitor.events(KEY, critical()),
    (error) => error instanceof TocsinError && error.code === "agent_not_accepted",
  )
  await monitor.agents.accept("web-1")
  await monitor.events(KEY, critical())
  await isNotified
  assert.match(told.join("\n"), /web-1\/disk/)
  const server = createServer(monitor.node).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  assert(typeof address === "object" && address !== null)
  const client = createClient({ baseUrl: `http://127.0.0.1:${address.port}`, token: TOKEN })
  assert.equal((await client.summary()).open_incidents, 1)
  server.close().closeAllConnections()
}

await tellOfAnIncident(memory())
await tellOfAnIncident(sqlite("monitoring.db"))
await tellOfAnIncident(postgres(process.env["POSTGRES_URL"] ?? ""))

await using monitor = await createTestMonitor({ deadAfter: "5m" })
await monitor.heartbeat(KEY, heartbeat)
await monitor.agents.accept("web-1")
await monitor.advance("6m")
await assert.rejects(createTestMonitor({ startAt: "soon" }), TocsinError)
assert.match(monitor.notifications[0]?.text ?? "", /no contact with web-1/)
