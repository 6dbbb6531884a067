import type { SortValue } from "@tocsin/core/kernel/model/ListPlan"
import { listTables, orderColumns, type Position } from "@tocsin/core/lists/ListDefinitions"
import { SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { start } from "@tocsin/testing/samples"
import type { AnyQuery } from "./listings.ts"

/** Runs a statement without parameters on the storage's database. */
export type RunSql = (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>

const condition = (name: string, value: unknown): string => {
  if (name === "severity") return `severity_rank = ${SEVERITY_RANK[value as keyof typeof SEVERITY_RANK]}`
  if (name === "acknowledged")
    return `(COALESCE(ack_until, 0) > ${start} AND state_rank = 1) = ${String(value)}`
  if (name === "held") return `(next_evaluation_at IS NOT NULL) = ${String(value)}`
  return value === "not_ok" ? `${name} <> 'ok'` : `${name} = '${String(value)}'`
}

const conditionsOf = ({ list, filter, sort }: AnyQuery): ReadonlyArray<string> => {
  const given = Object.entries(filter).filter(([name, value]) => name !== "at" && value !== undefined)
  const isOfMember = ([name]: readonly [string, unknown]): boolean =>
    list === "incidents" && name.endsWith("_id")
  const keys = "agent_id, check_id, registration_id"
  const own = given
    .filter((entry) => !isOfMember(entry))
    .map(([name, value]) =>
      name === "from" || name === "to"
        ? `${sort === "resolved_at" ? "resolved_order" : sort} ${name === "from" ? ">=" : "<"} ${String(value)}`
        : list === "overdue" && name === "status"
          ? `(${keys}) IN (SELECT ${keys} FROM check_state WHERE ${condition(name, value)})`
          : condition(name, value),
    )
  const ofMember = given.filter(isOfMember).map(([name, value]) => condition(name, value))
  return [
    ...own,
    ...(list === "blacklist" ? ["state = 'blocked'"] : []),
    ...(list === "overdue" ? ["incident_id IS NOT NULL"] : []),
    ...(ofMember.length === 0
      ? []
      : [`id IN (SELECT incident_id FROM incident_member WHERE ${ofMember.join(" AND ")})`]),
  ]
}

/**
 * The position behind `rows` rows of a list's order, found by counting; `undefined` where there are
 * not as many.
 */
export const deepPosition = async (
  run: RunSql,
  query: AnyQuery,
  rows: number,
): Promise<Position | undefined> => {
  const columns = orderColumns(query.list, query.sort as never)
  const conditions = conditionsOf(query)
  const order = columns.map(({ name }) => `${name} ${query.direction}`).join(", ")
  const [found] = await run(
    `SELECT ${columns.map(({ name }) => name).join(", ")} FROM ${listTables[query.list]}
    ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`} ORDER BY ${order} LIMIT 1 OFFSET ${rows - 1}`,
  )
  if (found === undefined) return undefined
  const values = columns.map(({ name, type }): SortValue => {
    const value = String(found[name])
    return type === "text" ? value : type === "bigint" ? BigInt(value) : Number(value)
  })
  return { values, isInclusive: false }
}

/** How many rows a list's order has. */
export const rowsOf = async (run: RunSql, query: AnyQuery): Promise<number> => {
  const conditions = conditionsOf(query)
  const [found] = await run(
    `SELECT count(*) AS count FROM ${listTables[query.list]} ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`}`,
  )
  return Number(found?.["count"])
}
