import type { Query } from "../api/request.ts"
import type { Answered } from "./Pages.ts"
import type { Topic } from "./revisions.ts"
import { call } from "./session.ts"

/** So many matches make a page of a list that is searched. */
const ENOUGH = 60

/**
 * Reads on from a cursor until enough items match. The API searches nothing by parts of names, so
 * the page searches.
 */
export const search = async <Item>(
  read: (cursor: string | undefined) => Promise<Answered<Item>>,
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

type Read<Item> = (cursor: string | undefined) => Promise<Answered<Item>>

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

/** The fields by which agents are searched. */
interface Searched {
  readonly agent_id: string
  readonly hostname: string
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The words of a search, each of which must be found. */
const splitWords = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")

const hasWords =
  (words: ReadonlyArray<string>) =>
  (texts: ReadonlyArray<string>): boolean =>
    words.every((word) => texts.some((text) => text.toLowerCase().includes(word)))

/** Whether an agent has each word in its ID, its host or a label, written `key=value`. */
export const agentMatches = (text: string): ((agent: Searched) => boolean) => {
  const has = hasWords(splitWords(text))
  return ({ agent_id, hostname, labels }) =>
    has([agent_id, hostname, ...Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)])
}

/** Whether an incident has each word in its summary, its key, its agent or its check. */
export const incidentMatches = (
  text: string,
): ((incident: {
  readonly incident_key: string
  readonly summary?: string | undefined
  readonly agent_id?: string | undefined
  readonly check_id?: string | undefined
}) => boolean) => {
  const has = hasWords(splitWords(text))
  return ({ incident_key, summary = "", agent_id = "", check_id = "" }) =>
    has([incident_key, summary, `${agent_id}/${check_id}`])
}

/** Whether a check has each word in its agent, its name or its output. */
export const checkMatches = (
  text: string,
): ((check: {
  readonly agent_id: string
  readonly check_id: string
  readonly summary?: string | undefined
}) => boolean) => {
  const has = hasWords(splitWords(text))
  return ({ agent_id, check_id, summary = "" }) => has([`${agent_id}/${check_id}`, summary])
}

/** Checks of one agent, in a row of the grid. */
export interface AgentChecks<Check> {
  readonly agent_id: string
  readonly checks: ReadonlyArray<Check>
}

/** Groups neighbours of one agent; the list is ordered by agent. */
const grouped = <Check extends { readonly agent_id: string }>(
  checks: ReadonlyArray<Check>,
): ReadonlyArray<AgentChecks<Check>> => {
  const groups: Array<{ agent_id: string; checks: Array<Check> }> = []
  for (const check of checks) {
    const last = groups.at(-1)
    if (last?.agent_id === check.agent_id) last.checks.push(check)
    else groups.push({ agent_id: check.agent_id, checks: [check] })
  }
  return groups
}

/** Where a page of agents begins: on the server's page after `cursor`, at an agent. */
interface Place {
  readonly cursor: string | undefined
  readonly agent_id: string | undefined
}

const placeOf = (text: string | undefined): Place => {
  const at = text?.indexOf(" ") ?? -1
  if (text === undefined || at === -1) return { cursor: undefined, agent_id: undefined }
  return { cursor: text.slice(at + 1) === "" ? undefined : text.slice(at + 1), agent_id: text.slice(0, at) }
}

const AGAIN_MILLIS = 1_000

/**
 * Reads pages, but not the last one again within a second: neighbouring pages of agents share a page
 * of checks.
 */
export const withLast = <Check>(
  read: (cursor: string | undefined) => Promise<Answered<Check>>,
  now: () => number,
): ((cursor: string | undefined) => Promise<Answered<Check>>) => {
  let last:
    | { readonly cursor: string | undefined; readonly at: number; readonly page: Answered<Check> }
    | undefined
  return async (cursor) => {
    if (last !== undefined && last.cursor === cursor && now() - last.at < AGAIN_MILLIS) return last.page
    const page = await read(cursor)
    last = { cursor, at: now(), page }
    return page
  }
}

/**
 * Reads whole agents from a list of checks whose pages may end within one. The last agent of a page
 * may have more checks on the next, so it begins the next page of agents.
 */
export const readAgents = async <Check extends { readonly agent_id: string }>(
  read: (cursor: string | undefined) => Promise<Answered<Check>>,
  from: string | undefined,
): Promise<Answered<AgentChecks<Check>>> => {
  const { cursor: start, agent_id } = placeOf(from)
  const checks: Array<Check> = []
  let cursor = start
  /** The page on which the last agent so far begins. */
  let last: Place = { cursor: start, agent_id }
  for (;;) {
    const page = await read(cursor)
    // Until the agent with which this page of agents begins.
    const fresh = checks.length > 0 || agent_id === undefined ? page.items : afterPlace(page.items, agent_id)
    const lastId = fresh.at(-1)?.agent_id
    if (lastId !== undefined && lastId !== checks.at(-1)?.agent_id) last = { cursor, agent_id: lastId }
    checks.push(...fresh)
    const next = page.next_cursor ?? null
    const groups = grouped(checks)
    if (next === null) return { items: groups, next_cursor: null }
    if (groups.length > 1)
      return { items: groups.slice(0, -1), next_cursor: `${last.agent_id ?? ""} ${last.cursor ?? ""}` }
    cursor = next
  }
}

/** The checks from an agent on; if it is gone, those of agents after it. */
const afterPlace = <Check extends { readonly agent_id: string }>(
  checks: ReadonlyArray<Check>,
  agent_id: string,
): ReadonlyArray<Check> => {
  const at = checks.findIndex((check) => check.agent_id >= agent_id)
  return at === -1 ? [] : checks.slice(at)
}

/** A list that a page shows: how its pages are read, and what it is about. */
export interface List<Item> {
  /** Names the list with its filters. */
  readonly key: string
  readonly topics: ReadonlyArray<Topic>
  readonly read: (cursor: string | undefined) => Promise<Answered<Item>>
  /** Whether a page takes many requests, so that it is read again less often. */
  readonly isSlow?: boolean
}

const LIMIT = 100
/** The most that a page of the API holds. */
export const MOST = 500

const topicsOf = (path: string): ReadonlyArray<Topic> => {
  if (path.includes("incidents")) return ["incidents"]
  if (path.includes("outbox")) return ["outbox", "incidents"]
  if (path.includes("checks") || path.includes("events")) return ["checks"]
  if (path.includes("agents")) return ["agents"]
  if (path.includes("silences")) return ["silences"]
  if (path.includes("integrations")) return ["integrations"]
  if (path.includes("operators")) return ["operators"]
  return ["audit"]
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

/** The items of a list that match, read by large pages. */
export const searched = <Item>(
  path: string,
  query: Query,
  words: string,
  matches: (item: Item) => boolean,
): List<Item> => {
  const list = listOf<Item>(path, query, MOST)
  return {
    ...list,
    key: `${list.key} ${words}`,
    read: (cursor) => search(list.read, matches, cursor),
    isSlow: true,
  }
}
