// An Express app that has its own monitoring: /break tells you that something is wrong, /fixed that it is over.
import express from "express"
import { createMonitor, memory } from "tocsin"

const send = ({ text }: { text: string }) => console.log(text)
const monitor = await createMonitor({ storage: memory(), notifiers: [{ name: "console", send }] })
const app = express().use("/monitoring", monitor.node) // agents elsewhere post to /monitoring/api/v1/events

const shop = await monitor.agent("shop")
shop.check("stock", { every: "1m" }, () => "1,204 articles")
app.get("/break", (_, response) => {
  shop.report("orders", "critical", "no order for an hour")
  response.json("reported")
})
app.get("/fixed", (_, response) => {
  shop.report("orders", "ok", "orders come in")
  response.json("reported")
})
const port = Number(process.env["PORT"] ?? 3000)
const server = app.listen(port, () => console.log("listening on", server.address()))
