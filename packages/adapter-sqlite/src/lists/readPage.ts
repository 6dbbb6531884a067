import type { BlockedKeyRecord } from "@tocsin/core/model/AgentRecord"
import { OutboxState } from "@tocsin/contract/Status"
import {
  type ListName,
  type ListRows,
  orderColumns,
  type SortValue,
  type PageRequest,
  type Position,
} from "@tocsin/core/model/ListDefinitions"
import { pageBounds } from "@tocsin/core/engine/lists/pageBounds"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { TableShape } from "@tocsin/core/model/TableShape"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import { columnsOf, decoder } from "../tables/makeTable.ts"
import { type Fixed, type Fragment, type Occurring, type Selection, selections } from "./selections.ts"

/** The columns of the rows of a list, and how they are read. */
interface Listed<Row> {
  readonly columns: ReadonlyArray<string>
  readonly decode: (row: object) => Row
}

const listed = <Row>(shape: TableShape<Row>): Listed<Row> => ({
  columns: columnsOf(shape),
  decode: decoder(shape),
})

const tables: { readonly [L in ListName]: Listed<ListRows[L]> } = {
  agents: listed(storedTables.agent),
  checks: listed(storedTables.check_state),
  overdue: listed(storedTables.expectation),
  history: listed(storedTables.check_event),
  incidents: listed(storedTables.incident),
  outbox: listed(storedTables.outbox),
  operators: listed(storedTables.operator),
  audit: listed(storedTables.audit),
  silences: listed(storedTables.silence),
  // The list selects blocked keys only, which have all columns.
  blacklist: listed(storedTables.agent_key) as Listed<BlockedKeyRecord>,
}

/**
 * Finds the notifiers of outbox items: for each state the next greater name each time, one index
 * lookup per name, however many items there are. Programs bring notifiers, so the names are not
 * known before.
 */
const FIND_NOTIFIERS = `
  WITH RECURSIVE found (state, notifier) AS (
    SELECT value, (SELECT min(notifier) FROM outbox WHERE state = value) FROM json_each(?)
    UNION ALL
    SELECT state, (SELECT min(notifier) FROM outbox WHERE state = found.state AND notifier > found.notifier)
    FROM found WHERE notifier IS NOT NULL
  )
  SELECT DISTINCT notifier FROM found WHERE notifier IS NOT NULL`

const isOfOneNotifier = (filter: object): boolean => "notifier" in filter && filter.notifier !== undefined

/**
 * Makes the function that reads the rows of a page; see PageRequest. It keeps its prepared
 * statements: one for each list, sort, direction and set of filters, some hundreds at most.
 */
export const makePageReads = (connection: SqliteConnection) => {
  const notifiers = connection.query<[string]>(FIND_NOTIFIERS)
  const prepared = new Map<string, Query<object>>()
  const prepare = (sql: string): Query<object> => {
    const known = prepared.get(sql) ?? connection.query<object>(sql)
    prepared.set(sql, known)
    return known
  }
  const rowsOf = <L extends ListName>(
    request: PageRequest<L>,
    occurring: Occurring,
  ): ReadonlyArray<ListRows[L]> => {
    const decode: (row: object) => ListRows[L] = tables[request.list].decode
    const parts = pageStatements(request, occurring).map(({ sql, values }) => prepare(sql).all(...values))
    const rows = parts.flat().map(decode)
    return parts.length > 1 ? firstOf(request, rows) : rows
  }
  return <L extends ListName>(request: PageRequest<L>): ReadonlyArray<ListRows[L]> => {
    if (request.list !== "outbox" || isOfOneNotifier(request.filter))
      return rowsOf(request, { notifiers: [] })
    return connection.snapshot(() => {
      const states = JSON.stringify(OutboxState.literals)
      return rowsOf(request, { notifiers: notifiers.all(states).map(([name]) => name) })
    })
  }
}

/** The order of a page, in the direction of reading. */
interface Order {
  readonly columns: ReadonlyArray<string>
  readonly isAscending: boolean
}

/** The first rows of a page, of which each statement found its own. */
const firstOf = <L extends ListName>(
  { direction, isBackward, limit, list, sort }: PageRequest<L>,
  rows: ReadonlyArray<ListRows[L]>,
): ReadonlyArray<ListRows[L]> => {
  const sign = (direction === "asc") === isBackward ? -1 : 1
  const columns = orderColumns(list, sort)
  const compare = (a: ListRows[L], b: ListRows[L]): number => {
    for (const { of } of columns) {
      const [left, right] = [of(a), of(b)]
      // Texts that follow other columns are IDs in ASCII, where code units are in SQLite's order.
      if (left !== right) return left < right ? -sign : sign
    }
    return 0
  }
  return rows.toSorted(compare).slice(0, limit)
}

/**
 * The most terms of a statement. SQLite allows 500, but passes each row through all that follow: a
 * page of the outbox with 41 notifiers takes half as long in statements of 48 as in one. Four
 * notifiers need one statement.
 */
const MOST_ARMS = 48

/**
 * The statements that read a page: the rows beyond a position, nearest first, each order by its own
 * index. Usually there is one; the rows of several are those of the page in one snapshot, and more.
 * Made of constant fragments; every value is a parameter. Empty if no row can be there.
 */
export const pageStatements = <L extends ListName>(
  request: PageRequest<L>,
  occurring: Occurring,
): ReadonlyArray<Fragment> => {
  const selection = selections[request.list](request.filter, occurring, request.sort)
  const columns = orderColumns(request.list, request.sort).map((column) => column.name)
  const order = { columns, isAscending: (request.direction === "asc") !== request.isBackward }
  const { start, end } = pageBounds(request)
  const results = Array.from(
    new Set([...tables[request.list].columns, ...columns]),
    (column) => `r.${column}`,
  ).join(", ")
  const arms = armsOf(selection, order).flatMap((fixed) => {
    const beyond = beyondPosition(start, fixed, order)
    const before = beyondPosition(end, fixed, { columns, isAscending: !order.isAscending })
    if (beyond === undefined || before === undefined) return []
    const equal = fixed.map(({ column, value }) => ({ sql: `r.${column} = ?`, values: [value] }))
    return [selectWhere(results, selection.from, [...selection.conditions, ...equal, ...beyond, ...before])]
  })
  const isFixed = (column: string) => selection.fixed.some((one) => one.column === column)
  const free = { ...order, columns: columns.filter((column) => !isFixed(column)) }
  return Array.from({ length: Math.ceil(arms.length / MOST_ARMS) }, (_, n) =>
    compound(arms.slice(n * MOST_ARMS, (n + 1) * MOST_ARMS), free, request.limit),
  )
}

const compound = (
  arms: ReadonlyArray<Fragment>,
  { columns, isAscending }: Order,
  limit: number,
): Fragment => {
  // The order of a compound names columns of its result, that of a single SELECT columns of its
  // tables.
  const owner = arms.length === 1 ? "r." : ""
  const sorted = columns.map((column) => `${owner}${column} ${isAscending ? "ASC" : "DESC"}`).join(", ")
  return {
    sql: `${arms.map(({ sql }) => sql).join(" UNION ALL ")} ORDER BY ${sorted} LIMIT ?`,
    values: [...arms.flatMap(({ values }) => values), limit],
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
 * The parts in which an index has the rows in order: one for each combination of values of the
 * partitions that the filter leaves open. A partition that begins the order itself needs no parts,
 * unless a later one is fixed.
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
 * The condition for rows beyond a position, where some columns are fixed. These are not compared,
 * so that an index finds the place. `undefined` if no row is beyond it.
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
      // Rows equal up to here all lie on one side, whatever the later columns.
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
