import {
  type ListName,
  orderColumns,
  type PageRequest,
  type Position,
  type SortValue,
} from "@tocsin/core/engine/lists/ListDefinitions"
import type { Fixed, Fragment, Occurring, Selection } from "./ListSource.ts"
import { ListSources } from "./ListSources.ts"

/** The order of a page, in the direction in which it is read. */
interface Order {
  readonly columns: ReadonlyArray<string>
  readonly isAscending: boolean
}

/**
 * The statement that reads a page: the rows beyond a position, nearest first, each order by an index of its own. Made of
 * constant fragments; every value is a parameter. `undefined` when nothing can lie there.
 */
export const pageStatement = <L extends ListName>(
  request: PageRequest<L>,
  occurring: Occurring,
): Fragment | undefined => {
  const source = ListSources[request.list]
  const selection = source.select(request.filter, occurring)
  const columns = orderColumns(request.list, request.sort).map((column) => column.name)
  const order = { columns, isAscending: (request.direction === "asc") !== request.isBackward }
  const results = Array.from(new Set([...source.columns, ...columns]), (column) => `r.${column}`).join(", ")
  const arms = armsOf(selection, order).flatMap((fixed) => {
    const beyond = beyondPosition(request.from, fixed, order)
    if (beyond === undefined) return []
    const equal = fixed.map(({ column, value }) => ({ sql: `r.${column} = ?`, values: [value] }))
    return [selectWhere(results, selection.from, [...selection.conditions, ...equal, ...beyond])]
  })
  if (arms.length === 0) return undefined
  const isFixed = (column: string) => selection.fixed.some((one) => one.column === column)
  const free = columns.filter((column) => !isFixed(column))
  // The order of a compound names columns of its result, that of a single SELECT columns of its tables.
  const owner = arms.length === 1 ? "r." : ""
  const sorted = free.map((column) => `${owner}${column} ${order.isAscending ? "ASC" : "DESC"}`).join(", ")
  return {
    sql: `${arms.map(({ sql }) => sql).join(" UNION ALL ")} ORDER BY ${sorted} LIMIT ?`,
    values: [...arms.flatMap(({ values }) => values), request.limit],
  }
}

const selectWhere = (results: string, from: Fragment, conditions: ReadonlyArray<Fragment>): Fragment => ({
  sql:
    conditions.length === 0
      ? `SELECT ${results} FROM ${from.sql}`
      : `SELECT ${results} FROM ${from.sql} WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`,
  values: [...from.values, ...conditions.flatMap(({ values }) => values)],
})

/**
 * The parts in which an index holds the rows in order: one for each combination of values of the partitions that the
 * filter leaves open. A partition that begins the order itself needs no parts, unless a later one is fixed.
 */
const armsOf = ({ fixed, partitions }: Selection, order: Order): ReadonlyArray<ReadonlyArray<Fixed>> => {
  const isFixed = (column: string) => fixed.some((one) => one.column === column)
  const split = partitions.filter(
    ({ column }, index) =>
      !isFixed(column) &&
      (!order.columns.includes(column) || partitions.slice(index + 1).some((later) => isFixed(later.column))),
  )
  return split.reduce<ReadonlyArray<ReadonlyArray<Fixed>>>(
    (arms, { column, values }) => arms.flatMap((arm) => values.map((value) => [...arm, { column, value }])),
    [fixed],
  )
}

/**
 * The condition that leaves the rows beyond a position, in rows where some columns are fixed: none of these is compared,
 * so that an index finds the place. `undefined` when no row is beyond it.
 */
const beyondPosition = (
  position: Position | undefined,
  fixed: ReadonlyArray<Fixed>,
  { columns, isAscending }: Order,
): ReadonlyArray<Fragment> | undefined => {
  if (position === undefined) return []
  const compared: Array<{ readonly column: string; readonly value: SortValue }> = []
  let isInclusive = position.isInclusive
  for (const [index, column] of columns.entries()) {
    const value = position.values[index]
    const one = fixed.find((candidate) => candidate.column === column)
    if (value === undefined) throw new Error(`a position has no value for ${column}`)
    if (one === undefined) compared.push({ column, value })
    else if (one.value !== value) {
      // Rows that are equal up to here all lie on one side; what comes after this column is no matter.
      isInclusive = one.value > value === isAscending
      break
    }
  }
  if (compared.length === 0) return isInclusive ? [] : undefined
  const names = compared.map(({ column }) => `r.${column}`).join(", ")
  const marks = compared.map(() => "?").join(", ")
  const operator = `${isAscending ? ">" : "<"}${isInclusive ? "=" : ""}`
  return [{ sql: `(${names}) ${operator} (${marks})`, values: compared.map(({ value }) => value) }]
}
