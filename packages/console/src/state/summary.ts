import { effect, signal } from "@preact/signals"
import type { SystemSummary } from "@tocsin/client"
import { beatOf } from "./beats.ts"
import { call, token } from "./session.ts"

/** The counts of the whole service. */
export const summary = signal<SystemSummary | undefined>(undefined)

const PULSE_MILLIS = 4_000

let isReading = false
const read = async (): Promise<void> => {
  if (document.hidden || token.peek() === "" || isReading) return
  isReading = true
  try {
    summary.value = await call<SystemSummary>("GET", "api/v1/system-summary", { timeoutMillis: PULSE_MILLIS })
  } catch {
    // It shows as a lost connection, and is tried again.
  } finally {
    isReading = false
  }
}

/**
 * Reads the summary whenever what it counts may have changed, and every few seconds in any case: a
 * connection that is lost without a word shows within 10 s.
 */
export const startPulse = (): void => {
  setInterval(() => void read(), PULSE_MILLIS)
  effect(() => {
    if (token.value === "") summary.value = undefined
    else if (beatOf(["incidents", "agents", "checks"]) >= 0) void read()
  })
}
