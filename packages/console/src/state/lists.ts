import { type Topic, topicNames } from "@tocsin/contract/liveViews/topicNames"
import type { ExpectedCheckState, HeldIncident } from "@tocsin/client"
import type { Query } from "../api/request.ts"
import type { Answered } from "./Pages.ts"
import { pages } from "./navigation.ts"
import { call } from "./session.ts"

/** Of many requests, a read makes no further one once nobody wants it: its page was left, or the filter is another one. */
export type Read<Item> = (cursor: string | undefined, isWanted?: () => boolean) => Promise<Answered<Item>>

export const always = () => true

/** A list that a page shows: how its pages are read, and what it is about. */
export interface List<Item> {
  readonly key: string
  readonly topics: ReadonlyArray<Topic>
  readonly read: Read<Item>
  /** Whether a read passes through much in the storage, so that it is repeated less often. */
  readonly isSlow?: boolean
  /** Whether it is read as a whole, so that no place in it is kept. */
  readonly isWhole?: boolean
}

const LIMIT = 100
export const MOST = 500

const TOPICS_OF: Readonly<Record<string, ReadonlyArray<Topic>>> = Object.assign(
  {},
  ...Array.from(pages.values(), ({ topics }) => topics),
)

/** The topics that change the answer of a path such as `ops/v1/checks`. */
export const topicsOf = (path: string): ReadonlyArray<Topic> => {
  const [, , resource = ""] = path.split("/")
  return TOPICS_OF[resource] ?? topicNames.filter((topic) => topic === resource)
}

export const listOf = <Item>(path: string, query: Query, limit = LIMIT): List<Item> => ({
  key: JSON.stringify([path, query]),
  topics: topicsOf(path),
  read: (cursor) => call<Answered<Item>>("GET", path, { query: { ...query, limit, cursor } }),
})

/** All items of a list, which a page has only in part: what acts on all of them reads them itself. */
export const readAll = async <Item>(
  { read }: Pick<List<Item>, "read">,
  { most = Infinity, isWanted = always } = {},
): Promise<ReadonlyArray<Item>> => {
  const all: Array<Item> = []
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await read(cursor)
    all.push(...items)
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined && all.length < most && isWanted())
  return all
}

/** Whether more than one request read them. */
export const isMany = ({ length }: ReadonlyArray<unknown>): boolean => length > MOST

/** So many items make a page of a list of which some are left out. */
const ENOUGH = 60

/** Reads on from a cursor until enough items are wanted ones. */
export const leavingOut = async <Item>(
  read: Read<Item>,
  isOut: (item: Item) => boolean,
  from: string | undefined,
  isWanted = always,
): Promise<Answered<Item>> => {
  const items: Array<Item> = []
  let cursor = from
  for (;;) {
    const page = await read(cursor)
    items.push(...page.items.filter((item) => !isOut(item)))
    const next = page.next_cursor ?? null
    if (next === null || items.length >= ENOUGH || !isWanted()) return { items, next_cursor: next }
    cursor = next
  }
}

/**
 * Lists as one, each after the one before; only the first unless that is empty, if `isFirstEnough`. A list
 * that is empty makes no page: that would not be in sight, and so not be read again.
 */
export const inOrder =
  <Item>(lists: ReadonlyArray<Read<Item>>, isFirstEnough = false): Read<Item> =>
  async (from, isWanted) => {
    const [, at = "0", rest = ""] = /^(\d+) (.*)$/s.exec(from ?? "") ?? []
    let cursor = rest === "" ? undefined : rest
    for (const [index, read] of lists.entries()) {
      if (index < Number(at)) continue
      const { items, next_cursor = null } = await read(cursor, isWanted)
      if (next_cursor !== null) return { items, next_cursor: `${index} ${next_cursor}` }
      const isLast = index + 1 === lists.length || (isFirstEnough && (items.length > 0 || from !== undefined))
      if (isLast || items.length > 0) return { items, next_cursor: isLast ? null : `${index + 1} ` }
      cursor = undefined
    }
    return { items: [] }
  }

/** The agent of a filter such as `web-1`, `web-1/` or `web-1/disk`, and what follows it. */
const subjectOf = (text: string) => {
  const [, agent_id, slash, check_id] = /^([\w.:-]{1,128})(\/(\S*))?$/.exec(text) ?? []
  if (agent_id === undefined) return undefined
  const subject = { agent_id, check_id: check_id === "" ? undefined : check_id }
  return { subject, isOnly: slash !== undefined }
}

/**
 * The incidents that a filter finds: first those with a member of exactly this agent or check, then
 * those that have its words. After `web-1/` and `web-1/disk` the others follow only if there is none.
 */
export const incidentsOf = (query: Query, filter: string, limit?: number): List<HeldIncident> => {
  const listed = (more: Query, most = limit) =>
    listOf<HeldIncident>("ops/v1/incidents", { ...query, ...more, with_receivers: true }, most)
  const search = filter.trim()
  // The past is long: a search passes through all of it.
  const words = { ...listed({ search }), isSlow: search !== "" && query["state"] === "resolved" }
  const exactly = subjectOf(search)
  if (exactly === undefined) return words
  const { subject, isOnly } = exactly
  const readOthers: Read<HeldIncident> = async (cursor, isWanted) => {
    const { items } = await listed(subject, MOST).read(undefined)
    const ids = new Set(items.map(({ id }) => id))
    // Beyond a page of them, the exact ones are known by their agent.
    const isExact = ({ id, agent_id }: HeldIncident) =>
      ids.has(id) || (ids.size > 0 && agent_id === subject.agent_id)
    return await leavingOut(words.read, isExact, cursor, isWanted)
  }
  return { ...words, read: inOrder([listed(subject).read, readOthers], isOnly) }
}

export type CheckName = Pick<ExpectedCheckState, "agent_id" | "check_id">

export type RankedCheck = Pick<
  ExpectedCheckState,
  "agent_id" | "check_id" | "late_severity" | "state" | "status" | "summary" | "title"
> &
  // For the marks of cells.
  Partial<Pick<ExpectedCheckState, "held_by">>

/** The worst first. */
export const SEVERITIES = ["critical", "unknown", "warning"] as const
/** Late checks have their own list, whatever their severities: it comes where a severe one may not be missed. */
export const STATES = ["critical", "late", "unknown", "warning", "ok"] as const

/** Stands for all states but ok, in the list. */
export const FAILING = "failing"

/** The place of a check among others: the worst is 0. One that is well has the last. A late one counts twice. */
export const rankOf = ({ late_severity, state, status }: RankedCheck): number => {
  const found = [status, state === "late" ? late_severity : null]
  const places = SEVERITIES.flatMap((each, place) => (found.includes(each) ? place : []))
  return Math.min(SEVERITIES.length, ...places)
}

/** Late and withdrawn ones have their own lists. */
export const isOfStatus = ({ state }: RankedCheck): boolean => state !== "late" && state !== "withdrawn"

/**
 * The list of checks, the worst first: those that fail or are late, also if they never reported, and the ok ones. By
 * agent, if the query asks for one state, or for where to begin. Withdrawn ones have their own list.
 */
export const checksOf = (query: Query, limit?: number): List<ExpectedCheckState> => {
  const path = "ops/v1/checks"
  const all = listOf<ExpectedCheckState>(path, query, limit)
  const isOfFailing = query["state"] === FAILING
  if (!isOfFailing && [query["state"], query["from_agent"]].some((each) => (each ?? "") !== "")) return all
  const part = ({ state, ...one }: Query, most = limit) =>
    listOf<ExpectedCheckState>(path, { ...query, ...one, state }, most).read
  const byState = inOrder(STATES.slice(0, -1).map((state) => part({ state })))
  const failing: typeof all.read = async (cursor) => {
    if (cursor !== undefined) return await byState(cursor)
    const parts = await Promise.all(
      [{ state: "late" }, { status: "not_ok" }].map((one) => part(one, MOST)(undefined)),
    )
    // Of more than a page, each state is a list.
    if (parts.some(({ next_cursor }) => typeof next_cursor === "string")) return await byState(undefined)
    const [late = [], others = []] = parts.map(({ items }) => items)
    const items = [...late, ...others.filter(isOfStatus)].toSorted((a, b) => rankOf(a) - rankOf(b))
    return { items }
  }
  const ok = isOfFailing ? [] : [part({ state: "ok" })]
  return { ...all, key: `worst of ${all.key}`, read: inOrder([failing, ...ok]) }
}
