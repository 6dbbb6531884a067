import { effect, signal } from "@preact/signals"
import type { Agent, SystemSummary } from "@tocsin/client"
import { isWaiting } from "./agentActions.ts"
import type { Query } from "../api/request.ts"
import { revisionOf } from "./revisions.ts"
import { followService } from "./clock.ts"
import { MOST } from "./lists.ts"
import type { Answered } from "./Pages.ts"
import { call, token } from "./session.ts"

/** The counts of the whole service. */
export const summary = signal<SystemSummary | undefined>(undefined)

const PULSE_MILLIS = 4_000

let isReading = false
const read = async (): Promise<void> => {
  if (document.hidden || token.peek() === "" || isReading) return
  isReading = true
  try {
    const answer = await call<SystemSummary>("GET", "api/v1/system-summary", { timeoutMillis: PULSE_MILLIS })
    summary.value = answer
    followService(Date.parse(answer.generated_at))
  } catch {
    // It shows as a lost connection, and is tried again.
  } finally {
    isReading = false
  }
}

/**
 * Counts of waiting decisions, for the navigation: dead letters and pending keys, as far as one
 * page has them.
 */
export const waiting = signal({ letters: 0, keys: 0 })

const readWaiting = async (): Promise<void> => {
  if (document.hidden || token.peek() === "") return
  const firstPage = <Item>(path: string, query: Query) =>
    call<Answered<Item>>("GET", path, { query: { ...query, limit: MOST } })
  try {
    // Together: a second read would begin after the page was hidden.
    const [letters, agents] = await Promise.all([
      firstPage("api/v1/notifiers/outbox", { state: "failed" }),
      firstPage<Agent>("api/v1/agents", {}),
    ])
    waiting.value = {
      letters: letters.items.length,
      // Of more agents than a page has, the first ones say nothing of the others.
      keys: typeof agents.next_cursor === "string" ? 0 : agents.items.filter(isWaiting).length,
    }
  } catch {
    // As for the summary.
  }
}

/** The least time between two reads of what waits, and before the first one: the page comes first. */
const WAITING_MILLIS = 5_000
const FIRST_MILLIS = 1_000

let readAt = FIRST_MILLIS - WAITING_MILLIS
let soon: ReturnType<typeof setTimeout> | undefined
const readWaitingSoon = (): void => {
  soon ??= setTimeout(
    () => {
      soon = undefined
      readAt = performance.now()
      void readWaiting()
    },
    Math.max(0, readAt + WAITING_MILLIS - performance.now()),
  )
}

/**
 * Reads the summary whenever what it counts may have changed, and every few seconds in any case: a
 * connection that is lost without a word shows within 10 s.
 */
export const startPulse = (): void => {
  setInterval(() => void read(), PULSE_MILLIS)
  effect(() => {
    if (token.value === "") summary.value = undefined
    else if (revisionOf(["incidents", "agents", "checks"]) >= 0) void read()
  })
  effect(() => {
    if (token.value === "") waiting.value = { letters: 0, keys: 0 }
    else if (revisionOf(["agents", "outbox"], true) >= 0) readWaitingSoon()
  })
}
