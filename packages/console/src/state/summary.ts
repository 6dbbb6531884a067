import { computed, effect, signal } from "@preact/signals"
import type { Overview } from "@tocsin/client"
import { revisionOf } from "./revisions.ts"
import { followService } from "./clock.ts"
import { preferences } from "./preferences.ts"
import { call, token } from "./session.ts"

/** The counts of the whole service. */
export const summary = signal<Overview | undefined>(undefined)

/** How many open incidents nobody has acknowledged, once that was read. */
export const unacknowledged = computed(() => {
  const counts = summary.value
  return counts && Math.max(0, counts.open_incidents - counts.acknowledged_incidents)
})

const PULSE_MILLIS = 4_000

let isReading = false
const read = async (): Promise<void> => {
  const { notifies, sounds } = preferences.peek()
  // A hidden tab rests, unless somebody relies on it.
  if ((document.hidden && !notifies && !sounds) || token.peek() === "" || isReading) return
  isReading = true
  try {
    const answer = await call<Overview>("GET", "ops/v1/summary", { timeoutMillis: PULSE_MILLIS })
    summary.value = answer
    followService(Date.parse(answer.generated_at))
  } catch {
    // It shows as a lost connection, and is tried again.
  } finally {
    isReading = false
  }
}

/**
 * Reads the summary when incidents, agents or notifications changed, and every few seconds in any case: a
 * connection that is lost without a word shows within 10 s.
 */
export const startPulse = (): void => {
  setInterval(() => void read(), PULSE_MILLIS)
  effect(() => {
    if (token.value === "") summary.value = undefined
    else if (revisionOf(["incidents", "agents", "outbox"]) >= 0) void read()
  })
}
