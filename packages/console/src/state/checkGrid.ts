import type { ExpectedCheckState } from "@tocsin/client"
import type { Query } from "../api/request.ts"
import { type List, listOf, MOST, readAll } from "./lists.ts"

type Check = Pick<ExpectedCheckState, "agent_id" | "check_id" | "is_overdue" | "status" | "summary">

/** A row of the grid: an agent with its checks that are not well, the worst first. */
export interface AgentRow {
  readonly key: string
  readonly agent_id: string
  readonly failing: ReadonlyArray<Check>
  /** How many others it has; undefined where only failing ones were read. */
  readonly ok: number | undefined
}

const WORST = ["critical", "unknown", "warning"] as const

/** The place of a check among others: the worst is 0. One that is well has the last. */
const rankOf = ({ status, is_overdue }: Check): number => {
  const at = WORST.findIndex((each) => each === status)
  if (at !== -1) return at
  return WORST.length + (is_overdue || status === null ? 0 : 1)
}

const isWell = (check: Check): boolean => rankOf(check) > WORST.length

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
    return { key: `${part}${agent_id}`, agent_id, failing, ok }
  })
  const worstOf = ({ failing: [worst] }: AgentRow) => (worst === undefined ? WORST.length + 1 : rankOf(worst))
  const countOf = (row: AgentRow) => row.failing.filter((each) => rankOf(each) === worstOf(row)).length
  return rows.toSorted((a, b) => worstOf(a) - worstOf(b) || countOf(b) - countOf(a))
}

/** The rows of the grid. So many checks are all read, and their rows sorted. */
export const FEW_CHECKS = 2_000

/**
 * The grid of checks. Of many, only those that are not ok are read: all critical ones by agent, then the
 * unknown ones, then the warnings.
 */
export const gridOf = (query: Query, isFew: boolean): List<AgentRow> => {
  const all = listOf<Check>("ops/v1/checks", query, MOST)
  const list = { ...all, key: `grid ${isFew} ${all.key}`, isSlow: true }
  if (isFew)
    return {
      ...list,
      read: async () => ({ items: rowsOf(await readAll(all), query["status"] === undefined) }),
    }
  const { status } = query
  const statuses = status === undefined || status === "" ? WORST : [status]
  return {
    ...list,
    read: async (from) => {
      const [at = "0", cursor = ""] = from?.split(" ") ?? []
      const index = Number(at)
      const part = listOf<Check>("ops/v1/checks", { ...query, status: statuses[index] }, MOST)
      const { items, next_cursor } = await part.read(cursor === "" ? undefined : cursor)
      const next = typeof next_cursor === "string" ? `${index} ${next_cursor}` : `${index + 1}`
      const isLast = typeof next_cursor !== "string" && index + 1 >= statuses.length
      return { items: rowsOf(items, false, `${from ?? ""} `), next_cursor: isLast ? null : next }
    },
  }
}
