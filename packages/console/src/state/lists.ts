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
  if (path.includes("watches")) return ["watches", "checks"]
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
