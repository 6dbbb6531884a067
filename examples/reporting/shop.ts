// A program that reports to a Tocsin elsewhere: a check that runs each minute, and a result now and then.
import { createAgent } from "tocsin/client"

const baseUrl = process.env["TOCSIN_URL"] ?? "http://127.0.0.1:8080"
const shop = createAgent({ baseUrl, keyFile: "shop.key", agentId: "shop" })
shop.check("orders", { every: "1m" }, async () => "12 orders today")
shop.report("deploy", "critical", "version 7 does not start")
process.once("SIGTERM", () => void shop.close()) // sends what waits
