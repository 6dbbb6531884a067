// lib/monitor.ts of a Next.js app: one monitor for the process, which outlives the reloads of development.
import process from "node:process"
import { createMonitor, type Monitor, sqlite } from "tocsin"

const kept = globalThis as { tocsin?: Promise<Monitor> }

/** The app's monitor. */
export const monitor = (): Promise<Monitor> =>
  (kept.tocsin ??= createMonitor({
    storage: sqlite(process.env["MONITORING_FILE"] ?? "monitoring.db"),
    uiTokens: (process.env["MONITORING_TOKENS"] ?? "").split(",").filter(Boolean),
    basePath: "/monitoring",
  }))
