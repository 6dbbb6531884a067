// Hono, and whatever else hands out the web's Request: monitor.fetch is a handler. Runs on Node.js, Deno and Bun.
import { Hono } from "hono"
import { createMonitor, type Monitor, sqlite } from "tocsin"

/** The app and its monitor; `tokens` are those of your operators. */
export const makeApp = async (
  file: string,
  tokens: ReadonlyArray<string>,
): Promise<{ readonly app: Hono; readonly monitor: Monitor }> => {
  // Hono leaves the prefix in the path.
  const monitor = await createMonitor({
    storage: sqlite(file),
    operatorTokens: tokens,
    basePath: "/monitoring",
  })
  const app = new Hono()
  app.get("/", (context) => context.text("hello"))
  app.all("/monitoring/*", (context) => monitor.fetch(context.req.raw))
  return { app, monitor }
}
