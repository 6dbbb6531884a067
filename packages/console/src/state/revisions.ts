import { type Topic, topicNames } from "@tocsin/contract/liveViews/topicNames"
import { signal } from "@preact/signals"
import { attempt } from "./kept.ts"

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

const KNOWN = new Set<string>(topicNames)

/** Between two revisions, so that a list is read once a second at any rate of change. */
const PAUSE_MILLIS = 1_000
/** How long rows stay in their places after the pointer moved over them. */
const AIM_MILLIS = 1_000

let revisedAt = Number.NEGATIVE_INFINITY
let aimedAt = Number.NEGATIVE_INFINITY
const collected = new Set<string>()
let soon: ReturnType<typeof setTimeout> | undefined

/**
 * How long a change that the stream names waits for its revision. A list has one read at a time, so one that
 * takes up to half a second shows the change within 2 s.
 *
 * | a change comes | its revision begins |
 * |---|---|
 * | a second and more after the last revision | at once |
 * | earlier | a second after the last revision, with all changes that came meanwhile |
 * | while the pointer moves over rows | once it has rested for a second |
 * | before an act, or a poll | with the reads of that, which never wait |
 *
 * Reads for the time alone neither wait nor make others wait.
 */
const millisLeft = (): number => Math.max(revisedAt + PAUSE_MILLIS, aimedAt + AIM_MILLIS) - performance.now()

const revise = (names: Iterable<string>): void => {
  clearTimeout(soon)
  soon = undefined
  revisedAt = performance.now()
  const all = Array.from(names)
  collected.clear()
  counted(all)
}

/** Reads everything on the page again now, such as after an act: the pointer has met its aim. */
export const refresh = (): void => {
  aimedAt = Number.NEGATIVE_INFINITY
  revise([ALL])
}

/** Reads again what may have changed because time has passed. */
export const passTime = (): void => counted([TIME])

/** Notes that the pointer moves over rows: its click is to meet the one that it was meant for. */
export const aim = (): void => void (aimedAt = performance.now())

/** Waits as long as the pointer moves over rows: an answer that was on its way moves none of them. */
export const rested = async (): Promise<void> => {
  for (;;) {
    const left = aimedAt + AIM_MILLIS - performance.now()
    if (left <= 0) return
    await new Promise((resolve) => setTimeout(resolve, left))
  }
}

const flush = (): void => {
  const left = millisLeft()
  if (left <= 0) revise(collected)
  else soon = setTimeout(flush, left)
}

/** Reads again what is about these topics; of a topic that this page does not know, everything. */
export const changed = (topics: ReadonlyArray<string>): void => {
  if (topics.length === 0) return
  for (const name of topics.every((each) => KNOWN.has(each)) ? topics : [ALL]) collected.add(name)
  soon ??= setTimeout(flush, Math.max(0, millisLeft()))
}

/** The topics to fetch again that the data of an event names; none if it is not an event of the service. */
const topicsIn = (data: string): ReadonlyArray<string> => {
  const { topics }: { readonly topics?: unknown } = Object(attempt((): unknown => JSON.parse(data)))
  return Array.isArray(topics) ? topics.filter((each) => typeof each === "string") : []
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
