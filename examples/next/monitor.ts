// monitor.ts beside route.ts: one monitor for the process, which outlives the reloads of development.
import process from "node:process"
import { createMonitor, type Monitor, sqlite } from "tocsin"

const kept = globalThis as { tocsin?: Promise<Monitor> | undefined }

/** The app's monitor. */
export const monitor = (): Promise<Monitor> =>
  (kept.tocsin ??= createMonitor({
    storage: sqlite(process.env["MONITORING_FILE"] ?? "monitoring.db"),
    operatorTokens: (process.env["MONITORING_TOKENS"] ?? "").split(",").filter(Boolean),
    basePath: "/monitoring",
  }).catch((error: unknown) => {
    // The next request tries again.
    kept.tocsin = undefined
    throw error
  }))
