import type { Query } from "../api/request.ts"
import type { Topic } from "./revisions.ts"
import type { Answered } from "./Pages.ts"
import { search } from "./search.ts"
import { call } from "./session.ts"

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
