import { type Topic, topicNames } from "@tocsin/contract/liveViews/topicNames"
import type { Agent, ExpectedCheckState, HeldIncident } from "@tocsin/client"
import type { Query } from "../api/request.ts"
import type { Answered } from "./Pages.ts"
import { pages } from "./navigation.ts"
import { call } from "./session.ts"
import type { Titled } from "./names.ts"

/** Of many requests, a read makes no further one once nobody wants it: its page was left, or the filter is another one. */
type Read<Item> = (cursor: string | undefined, isWanted?: () => boolean) => Promise<Answered<Item>>

const always = () => true

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
const isMany = ({ length }: ReadonlyArray<unknown>): boolean => length > MOST

/** So many rows are put in groups: those that come first. */
export const MOST_GROUPED = 2_000

interface Grouped {
  readonly agent_id?: string | undefined
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * A list in groups by a label of its checks or else of its agents, the group of its first row first; the
 * list itself without a label.
 */
export const groupedBy = <Item extends Grouped>(list: List<Item>, label = ""): List<Item> => {
  if (label === "") return list
  const read: Read<Item> = async (_cursor, isWanted = always) => {
    const agents = await readAll(listOf<Agent>("ops/v1/agents", { search: `${label}=` }, MOST), { isWanted })
    const values = new Map(agents.map(({ agent_id, labels }) => [agent_id, labels?.[label]]))
    const groups = new Map<string, Array<Item>>()
    const all = await readAll(list, { most: MOST_GROUPED, isWanted })
    for (const item of all) {
      const value = item.labels?.[label] ?? values.get(item.agent_id ?? "")
      const name = value === undefined ? `no ${label}` : `${label}=${value}`
      groups.set(name, [...(groups.get(name) ?? []), item])
    }
    const counts = Array.from(groups, ([name, { length }]) => [name, length] as const)
    const isSlow = isMany(agents) || isMany(all)
    return { items: Array.from(groups.values()).flat(), groups: counts, isSlow }
  }
  return { ...list, key: `${list.key} by ${label}`, read }
}

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

type Check = Pick<
  ExpectedCheckState,
  "agent_id" | "check_id" | "late_severity" | "state" | "status" | "summary" | "title"
>

export interface AgentRow {
  readonly key: string
  readonly agent_id: string
  readonly failing: ReadonlyArray<Check>
  /** How many others it has; undefined where only failing ones were read. */
  readonly ok: number | undefined
  /** Whether `failing` has all of its checks that are not ok: no other row is about it. */
  readonly isAll: boolean
}

/** The worst first. */
export const SEVERITIES = ["critical", "unknown", "warning"] as const
/** Late checks have their own list, whatever their severities: it comes where a severe one may not be missed. */
export const STATES = ["critical", "late", "unknown", "warning", "ok"] as const

/** Stands for all states but ok, in the list. */
export const FAILING = "failing"

/** The place of a check among others: the worst is 0. One that is well has the last. A late one counts twice. */
const rankOf = ({ late_severity, state, status }: Check): number => {
  const found = [status, state === "late" ? late_severity : null]
  const places = SEVERITIES.flatMap((each, place) => (found.includes(each) ? place : []))
  return Math.min(SEVERITIES.length, ...places)
}

const isWell = (check: Check): boolean => check.state !== "withdrawn" && rankOf(check) === SEVERITIES.length
/** Late and withdrawn ones have their own lists. */
const isOfStatus = ({ state }: Check): boolean => state !== "late" && state !== "withdrawn"

/** Rows of checks, which come by agent: an agent whose worst check is worse, or that has more of them, comes first. */
export const rowsOf = (
  checks: ReadonlyArray<Check>,
  isWhole: boolean,
  part = "",
): ReadonlyArray<AgentRow> => {
  const agents = new Map<string, ReadonlyArray<Check>>()
  for (const check of checks) agents.set(check.agent_id, [...(agents.get(check.agent_id) ?? []), check])
  const rows = Array.from(agents, ([agent_id, all]) => {
    const failing = all.filter((check) => !isWell(check)).toSorted((a, b) => rankOf(a) - rankOf(b))
    const ok = isWhole ? all.length - failing.length : undefined
    return { key: `${part}${agent_id}`, agent_id, failing, ok, isAll: part === "" }
  })
  const worstOf = ({ failing: [worst] }: AgentRow) =>
    worst === undefined ? SEVERITIES.length : rankOf(worst)
  const countOf = (row: AgentRow) => row.failing.filter((each) => rankOf(each) === worstOf(row)).length
  return rows.toSorted((a, b) => worstOf(a) - worstOf(b) || countOf(b) - countOf(a))
}

/** The rows of the grid. So many checks are all read, and their rows sorted. */
export const FEW_CHECKS = 2_000

/**
 * The grid of checks. Of many, only those that fail or are late are read. If these are many too, agents come by their
 * critical ones, then by late ones, unknown ones and warnings.
 */
export const gridOf = (query: Query, isFew: boolean): List<AgentRow> => {
  const all = listOf<Check>("ops/v1/checks", query, MOST)
  const list = { ...all, key: `grid ${isFew} ${all.key}` }
  const { state } = query
  const isOfAll = state === undefined
  const listBy = (one: Query) => listOf<Check>("ops/v1/checks", { ...query, ...one }, MOST)
  /** Late ones first, since those that never reported are in no other list. */
  const withLate = async (others: List<Check>, options: Parameters<typeof readAll>[1]) => [
    ...(await readAll(listBy({ state: "late" }), options)),
    ...(await readAll(others, options)).filter(isOfStatus),
  ]
  if (isFew)
    return {
      ...list,
      read: async (_cursor, isWanted = always) => {
        const checks = isOfAll ? await withLate(all, { isWanted }) : await readAll(all, { isWanted })
        return { items: rowsOf(checks, isOfAll), isSlow: isMany(checks) }
      },
    }
  const partOf = (each: typeof state): Read<AgentRow> => {
    const part = listBy({ state: each })
    return async (cursor) => {
      const { items, next_cursor = null } = await part.read(cursor)
      return { items: rowsOf(items, false, `${each} ${cursor} `), next_cursor }
    }
  }
  if (!isOfAll) return { ...list, read: partOf(state) }
  const byState = inOrder(STATES.slice(0, -1).map(partOf))
  const read: Read<AgentRow> = async (cursor, isWanted = always) => {
    if (cursor !== undefined) return await byState(cursor)
    const checks = await withLate(listBy({ status: "not_ok" }), { most: MOST_GROUPED, isWanted })
    if (checks.length >= MOST_GROUPED) return { ...(await byState(undefined)), isSlow: true }
    return { items: rowsOf(checks, false), isSlow: isMany(checks) }
  }
  return { ...list, read }
}

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

const { compare } = new Intl.Collator("en", { numeric: true })

export interface Named extends Titled {
  readonly name: string
}

/** Sorts titles, or else names, as people read them: 2 before 10. */
export const byName = (a: Named, b: Named): number => compare(a.title ?? a.name, b.title ?? b.name)
