// The declarations, as a program as strict as can be sees them.
import { createServer } from "node:http"
import { createMonitor, type Incident, memory, type Reply, TocsinError } from "tocsin"
import { createClient } from "tocsin/client"
import { consoleFiles } from "tocsin/console"
import { createTestMonitor, notifierSuite } from "tocsin/testing"

/** Methods have the documented parameters and results. */
export const openIncidents = async (): Promise<ReadonlyArray<Incident>> => {
  await using monitor = await createMonitor({ storage: memory(), notifiers: [] })
  createServer(monitor.node)
  const incidents: Array<Incident> = []
  for await (const incident of monitor.incidents.all({ state: "open" })) incidents.push(incident)
  // @ts-expect-error: "opened" is not a state.
  await monitor.incidents.list({ state: "opened" })
  return incidents
}

/** The failures of a method are in its type. */
export const codeOf = async (reply: Reply<unknown, "not_found" | "storage">): Promise<string> => {
  const outcome = await reply.outcome()
  // @ts-expect-error: nothing else than these two.
  if (!outcome.ok && outcome.error.code === "validation") return "never"
  return outcome.ok ? "ok" : outcome.error.code
}

/** The moved clock's monitor is a monitor. */
export const incidentsAfter = async (): Promise<number> => {
  await using monitor = await createTestMonitor()
  await monitor.advance("5m")
  return (await monitor.summary()).open_incidents
}

export { consoleFiles, createClient, notifierSuite, TocsinError }
