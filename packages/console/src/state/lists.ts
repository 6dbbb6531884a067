import type { HeldIncident } from "@tocsin/client"
import type { Query } from "../api/request.ts"
import type { Answered } from "./Pages.ts"
import { type Topic, TOPICS } from "./revisions.ts"
import { call } from "./session.ts"

type Read<Item> = (cursor: string | undefined) => Promise<Answered<Item>>

/** A list that a page shows: how its pages are read, and what it is about. */
export interface List<Item> {
  /** Names the list with its filters. */
  readonly key: string
  readonly topics: ReadonlyArray<Topic>
  readonly read: Read<Item>
  /** Whether a page takes many requests, so that it is read again less often. */
  readonly isSlow?: boolean
}

const LIMIT = 100
/** The most that a page of the API holds. */
export const MOST = 500

/** Topics of resources that are not named like theirs. */
const TOPICS_OF: Readonly<Record<string, ReadonlyArray<Topic>>> = {
  availability: ["checks"],
  events: ["checks"],
  explain: ["checks"],
  outbox: ["outbox", "incidents"],
  watches: ["watches", "checks"],
  windows: ["policy", "silences"],
}

/** The topics that change the answer of a path such as `ops/v1/checks`. */
export const topicsOf = (path: string): ReadonlyArray<Topic> => {
  const [, , resource = ""] = path.split("/")
  return TOPICS_OF[resource] ?? TOPICS.filter((topic) => topic === resource)
}

/** A list of the API as it is. */
export const listOf = <Item>(path: string, query: Query, limit = LIMIT): List<Item> => ({
  key: JSON.stringify([path, query]),
  topics: topicsOf(path),
  read: (cursor) => call<Answered<Item>>("GET", path, { query: { ...query, limit, cursor } }),
})

/** All items of a list, which a page has only in part: what acts on all of them reads them itself. */
export const readAll = async <Item>({ read }: Pick<List<Item>, "read">): Promise<ReadonlyArray<Item>> => {
  const all: Array<Item> = []
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await read(cursor)
    all.push(...items)
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/** So many matches make a page of a list that is searched. */
const ENOUGH = 60

/** Reads on from a cursor until enough items match: the API does not search incidents by parts of names. */
export const search = async <Item>(
  read: Read<Item>,
  matches: (item: Item) => boolean,
  from: string | undefined,
): Promise<Answered<Item>> => {
  const items: Array<Item> = []
  let cursor = from
  for (;;) {
    const page = await read(cursor)
    items.push(...page.items.filter(matches))
    const next = page.next_cursor ?? null
    if (next === null || items.length >= ENOUGH) return { items, next_cursor: next }
    cursor = next
  }
}

/** Marks the cursors of the exact list; the others are those of the search. */
const EXACT = "exact "
/** Where the search begins, after the exact list. */
const OTHERS = "others"

/**
 * A list of what the API finds exactly, and then of what a search finds; of the exact ones only, if
 * `isOnly` and there are any.
 */
export const exactFirst =
  <Item>(exact: Read<Item>, others: Read<Item>, isOnly: boolean): Read<Item> =>
  async (cursor) => {
    if (cursor === OTHERS) return await others(undefined)
    if (cursor?.startsWith(EXACT) === false) return await others(cursor)
    const { items, next_cursor = null } = await exact(cursor?.slice(EXACT.length))
    if (next_cursor !== null) return { items, next_cursor: `${EXACT}${next_cursor}` }
    // An empty page would not be in sight, and so not be read again.
    if (cursor === undefined && items.length === 0) return await others(undefined)
    return { items, next_cursor: isOnly ? null : OTHERS }
  }

/** Whether an incident has each word of a text in its summary, its key, its agent or its check. */
const incidentMatches = (text: string): ((incident: HeldIncident) => boolean) => {
  const words = text.toLowerCase().trim().split(/\s+/)
  return ({ incident_key, summary = "", agent_id = "", check_id = "" }) => {
    const texts = [incident_key, summary, `${agent_id}/${check_id}`].map((each) => each.toLowerCase())
    return words.every((word) => texts.some((each) => each.includes(word)))
  }
}

/** The agent of a filter such as `web-1`, `web-1/` or `web-1/disk`, and what follows it. */
const subjectOf = (text: string) => {
  const [, agent_id, slash, check_id] = /^([\w.:-]{1,128})(\/(\S*))?$/.exec(text.trim()) ?? []
  if (agent_id === undefined) return undefined
  const subject = { agent_id, check_id: check_id === "" ? undefined : check_id }
  return { subject, isOnly: slash !== undefined }
}

/**
 * The incidents that a filter finds: first those with a member of exactly this agent or check, then
 * those that have its words. After `web-1/` and `web-1/disk` the others follow only if there is none.
 * `isSlow` if a search takes many requests.
 */
export const incidentsOf = (query: Query, filter: string, isSlow: boolean): List<HeldIncident> => {
  const path = "ops/v1/incidents"
  if (filter.trim() === "") return listOf<HeldIncident>(path, query)
  const hasWords = incidentMatches(filter)
  const all = listOf<HeldIncident>(path, query, MOST)
  const words = { ...all, key: `${all.key} ${filter}`, isSlow }
  const exactly = subjectOf(filter)
  if (exactly === undefined) return { ...words, read: (cursor) => search(all.read, hasWords, cursor) }
  const { subject, isOnly } = exactly
  const exact = { ...query, ...subject }
  const readOthers = async (cursor: string | undefined) => {
    const { items } = await listOf<HeldIncident>(path, exact, MOST).read(undefined)
    const ids = new Set(items.map(({ id }) => id))
    // Beyond a page of them, the exact ones are known by their agent.
    const isOther = ({ id, agent_id }: HeldIncident) =>
      ids.size === 0 || (!ids.has(id) && agent_id !== subject.agent_id)
    return await search(all.read, (incident) => hasWords(incident) && isOther(incident), cursor)
  }
  return { ...words, read: exactFirst(listOf<HeldIncident>(path, exact).read, readOthers, isOnly) }
}
