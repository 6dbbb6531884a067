import { signal } from "@preact/signals"

/** What reads are about, as the service's stream names it. */
export const TOPICS = [
  "incidents",
  "agents",
  "checks",
  "silences",
  "outbox",
  "audit",
  "operators",
  "policy",
] as const
export type Topic = (typeof TOPICS)[number]

/** How often each topic changed, and how often everything may have. */
const beats = signal<Readonly<Record<string, number>>>({})
const ALL = "all"

const counted = (names: ReadonlyArray<string>): void => {
  const next = { ...beats.peek() }
  for (const name of names) next[name] = (next[name] ?? 0) + 1
  beats.value = next
}

/** Moves when what is about any of these topics may have changed: it is time to read it again. */
export const beatOf = (topics: ReadonlyArray<Topic>): number => {
  const counts = beats.value
  return [ALL, ...topics].reduce((sum, name) => sum + (counts[name] ?? 0), 0)
}

/** Reads everything on the page again now, such as after an act. */
export const refresh = (): void => counted([ALL])

const KNOWN = new Set<string>(TOPICS)

/** Reads again what is about these topics; of a topic that this page does not know, everything. */
export const changed = (topics: ReadonlyArray<string>): void => {
  if (topics.length > 0) counted(topics.every((name) => KNOWN.has(name)) ? topics : [ALL])
}
