import { computed, effect, signal } from "@preact/signals"
import type { HeldIncident, Overview } from "@tocsin/client"
import { countText, numberText } from "../format/times.ts"
import { showNotification, takeAudio } from "./browser.ts"
import { followService } from "./clock.ts"
import { nameOf } from "./incidentActions.ts"
import type { Answered } from "./Pages.ts"
import { preferences } from "./preferences.ts"
import { revisionOf } from "./revisions.ts"
import { call, token } from "./session.ts"

export const summary = signal<Overview | undefined>(undefined)

/** How many open incidents are unacknowledged, once that was read. */
export const unacknowledged = computed(() => {
  const counts = summary.value
  return counts && Math.max(0, counts.open_incidents - counts.acknowledged_incidents)
})

/** Whether anything is watched, once that was read. */
export const isWatching = computed(() => {
  const counts = summary.value
  return counts && counts.agents_online + counts.agents_offline > 0
})

/** Agents on hosts that are alive: those of integrations and watches are as alive as the service. */
export const aliveAgents = ({ agents_online, integration_agents }: Overview): number =>
  Math.max(0, agents_online - integration_agents)

export const agentsText = (counts: Overview): string => {
  const { agents_offline, integration_agents: others } = counts
  const besides = others === 0 ? "" : `, besides ${numberText(others)} of integrations and watches`
  return `${numberText(aliveAgents(counts))} alive, ${numberText(agents_offline)} stale or dead${besides}`
}

const PULSE_MILLIS = 4_000

let isReading = false
/** Whether something changed while it was read. */
let isAgain = false
const read = async (): Promise<void> => {
  isAgain = isReading
  const { notifies, sounds } = preferences.peek()
  // A hidden tab rests, unless it is to announce rises.
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
    if (isAgain) void read()
  }
}

/**
 * Reads the summary when what it counts changed, and every few seconds in any case: a connection that is lost
 * without a word shows within 10 s.
 */
export const startPulse = (): void => {
  setInterval(() => void read(), PULSE_MILLIS)
  effect(() => {
    if (token.value === "") summary.value = undefined
    else if (revisionOf(["incidents", "agents", "checks", "outbox"]) >= 0) void read()
  })
}

/** The outline of the bell of Tocsin, in a square of 32. */
export const BELL = "M16 4a8 8 0 0 0-8 8v6l-3 5h22l-3-5v-6a8 8 0 0 0-8-8zM12.5 25a3.5 3.5 0 0 0 7 0z"
const MOST_SHOWN = 99

const showIcon = (count: number): void => {
  const text = count > MOST_SHOWN ? `${MOST_SHOWN}+` : String(count)
  const badge = `<rect y="12" width="32" height="20" rx="6" fill="#b01d1d"/><text x="16" y="28" font-size="17" font-weight="700" font-family="sans-serif" text-anchor="middle" fill="#fff">${text}</text>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#b5712a" d="${BELL}"/>${count === 0 ? "" : badge}</svg>`
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]") ?? document.createElement("link")
  link.rel = "icon"
  link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`
  document.head.append(link)
}

const TONES = [880, 660] as const
const TONE_SECONDS = 0.18

/** A browser lets a page sound only after a click on it. */
export const sound = (): void => {
  const audio = takeAudio()
  if (audio === undefined) return
  for (const [index, frequency] of TONES.entries()) {
    const tone = audio.createOscillator()
    const volume = audio.createGain()
    volume.gain.value = 0.15
    tone.frequency.value = frequency
    tone.connect(volume).connect(audio.destination)
    tone.start(audio.currentTime + index * TONE_SECONDS)
    tone.stop(audio.currentTime + (index + 1) * TONE_SECONDS)
  }
}

const notify = async (count: number): Promise<void> => {
  const query = { state: "open", acknowledged: false, sort: "opened_at", limit: 1 }
  const { items } = await call<Answered<HeldIncident>>("GET", "ops/v1/incidents", { query })
  const [newest] = items
  const title = `${countText(count, "incident")} not acknowledged`
  // One of all tabs: a later one takes its place.
  showNotification(title, {
    body: newest === undefined ? "" : `${nameOf(newest)}: ${newest.summary ?? ""}`,
    tag: "tocsin",
  })
}

/** Shows how many open incidents are unacknowledged; announces each rise, if that was asked for. */
export const startAlerting = (): void => {
  let before: number | undefined
  effect(() => {
    const count = unacknowledged.value
    showIcon(count ?? 0)
    const hasRisen = before !== undefined && count !== undefined && count > before
    before = count
    if (!hasRisen || count === undefined) return
    const { notifies, sounds } = preferences.peek()
    if (sounds) sound()
    if (notifies) notify(count).catch(() => undefined)
  })
}
