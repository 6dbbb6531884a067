import { signal } from "@preact/signals"

/** The subjects of reads, as the service's stream names them. */
export const TOPICS = [
  "incidents",
  "agents",
  "checks",
  "silences",
  "outbox",
  "audit",
  "integrations",
  "watches",
  "operators",
  "policy",
] as const
export type Topic = (typeof TOPICS)[number]

/** How often each topic changed, and how often everything may have. */
const revisions = signal<Readonly<Record<string, number>>>({})
const ALL = "all"
/** Reads that follow from the time alone, which no topic names. */
const TIME = "time"

/** Reads of many requests are repeated for the time alone at each fourth revision only. */
const SLOW_EVERY = 4

const counted = (names: ReadonlyArray<string>): void => {
  const next = { ...revisions.peek() }
  for (const name of names) next[name] = (next[name] ?? 0) + 1
  revisions.value = next
}

/** Moves when what is about any of these topics may have changed: it is time to read it again. */
export const revisionOf = (topics: ReadonlyArray<Topic>, isSlow = false): number => {
  const counts = revisions.value
  const times = Math.floor((counts[TIME] ?? 0) / (isSlow ? SLOW_EVERY : 1))
  return [ALL, ...topics].reduce((sum, name) => sum + (counts[name] ?? 0), times)
}

/** Reads everything on the page again now, such as after an act. */
export const refresh = (): void => counted([ALL])

/** Reads again what may have changed because time has passed. */
export const passTime = (): void => counted([TIME])

const KNOWN = new Set<string>(TOPICS)

/** Reads again what is about these topics; of a topic that this page does not know, everything. */
export const changed = (topics: ReadonlyArray<string>): void => {
  if (topics.length > 0) counted(topics.every((name) => KNOWN.has(name)) ? topics : [ALL])
}
