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

/** How long each request makes the next revision wait: at any rate of change, a page sends one a second. */
const PAUSE_MILLIS = 1_000

let free = 0
/** Notes a request that reads something again. */
export const countRead = (): void => {
  free = Math.max(free, performance.now()) + PAUSE_MILLIS
}

/** How long rows stay in their places after the pointer moved over them. */
const AIM_MILLIS = 1_000

let aimed = 0
/** Notes that the pointer moves over rows: its click is to meet the one that it was meant for. */
export const aim = (): void => void (aimed = performance.now() + AIM_MILLIS)

const collected = new Set<string>()
let soon: ReturnType<typeof setTimeout> | undefined

const flush = (): void => {
  const left = aimed - performance.now()
  soon = left > 0 ? setTimeout(flush, left) : undefined
  if (left > 0) return
  const topics = Array.from(collected)
  collected.clear()
  counted(topics)
}

/**
 * Reads again what is about these topics; of a topic that this page does not know, everything. Changes
 * that come while the page may not read are collected.
 */
export const changed = (topics: ReadonlyArray<string>): void => {
  if (topics.length === 0) return
  for (const name of topics.every((each) => KNOWN.has(each)) ? topics : [ALL]) collected.add(name)
  soon ??= setTimeout(flush, Math.max(0, free - performance.now()))
}

/** The topics to fetch again that the data of an event names; none if it is not an event of the service. */
const topicsIn = (data: string): ReadonlyArray<string> => {
  try {
    const value: unknown = JSON.parse(data)
    const topics = typeof value === "object" && value !== null && "topics" in value ? value.topics : []
    return Array.isArray(topics) ? topics.filter((each) => typeof each === "string") : []
  } catch {
    return []
  }
}

/**
 * Reads Server-Sent Events from the text that has arrived: the complete ones as topics that changed, and the
 * rest for the next call. A comment is a change of nothing: it shows that the stream gets through.
 */
export const readChanges = (
  text: string,
): { readonly changes: ReadonlyArray<ReadonlyArray<string>>; readonly rest: string } => {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n")
  const rest = blocks.pop() ?? ""
  const changes = blocks.map((block) =>
    topicsIn(Array.from(block.matchAll(/^data: ?(.*)$/gm), ([, value]) => value).join("\n")),
  )
  return { changes, rest }
}
