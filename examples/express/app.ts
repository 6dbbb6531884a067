// An Express app that has its own monitoring: /break tells you that something is wrong, /fixed that it is over.
import express from "express"
import { createMonitor, memory, newEventId } from "tocsin"

const send = ({ text }: { text: string }) => console.log(text)
const monitor = await createMonitor({ storage: memory(), notifiers: [{ name: "console", send }] })
const app = express().use("/monitoring", monitor.node) // agents elsewhere post to /monitoring/api/v1/events

const [key, agent_id, now] = [crypto.randomUUID(), "shop", () => new Date().toISOString()]
const features = { push: true, metrics: false }
await monitor.heartbeat(key, { agent_id, observed_at: now(), hostname: "localhost", features })
await monitor.agents.accept(agent_id)
const report = (status: "ok" | "critical", output: string) => {
  const result = { check_id: "orders", observed_at: now(), status, exit_code: 0, duration_ms: 0, output }
  return monitor.events(key, { agent_id, events: [{ event_id: newEventId(), ...result }] })
}
app.get("/break", async (_, response) => void response.json(await report("critical", "no order for an hour")))
app.get("/fixed", async (_, response) => void response.json(await report("ok", "orders come in")))
const port = Number(process.env["PORT"] ?? 3000)
const server = app.listen(port, () => console.log("listening on", server.address()))
