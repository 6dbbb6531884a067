import { MOST_GROUPED } from "./groupedBy.ts"
import type { Query } from "../api/request.ts"
import {
  always,
  inOrder,
  isMany,
  isOfStatus,
  type List,
  listOf,
  MOST,
  type RankedCheck,
  rankOf,
  type Read,
  readAll,
  SEVERITIES,
  STATES,
} from "./lists.ts"

export interface AgentRow {
  readonly key: string
  readonly agent_id: string
  readonly failing: ReadonlyArray<RankedCheck>
  /** How many others it has; undefined where only failing ones were read. */
  readonly ok: number | undefined
  /** Whether `failing` has all of its checks that are not ok: no other row is about it. */
  readonly isAll: boolean
}

const isWell = (check: RankedCheck): boolean =>
  check.state !== "withdrawn" && rankOf(check) === SEVERITIES.length

/** Rows of checks, which come by agent: an agent whose worst check is worse, or that has more of them, comes first. */
export const rowsOf = (
  checks: ReadonlyArray<RankedCheck>,
  isWhole: boolean,
  part = "",
): ReadonlyArray<AgentRow> => {
  const agents = new Map<string, ReadonlyArray<RankedCheck>>()
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
  const all = listOf<RankedCheck>("ops/v1/checks", query, MOST)
  const list = { ...all, key: `grid ${isFew} ${all.key}` }
  const { state } = query
  const isOfAll = state === undefined
  const listBy = (one: Query) => listOf<RankedCheck>("ops/v1/checks", { ...query, ...one }, MOST)
  /** Late ones first, since those that never reported are in no other list. */
  const withLate = async (others: List<RankedCheck>, options: Parameters<typeof readAll>[1]) => [
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
