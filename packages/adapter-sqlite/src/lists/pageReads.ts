import {
  type ListName,
  listNames,
  type ListRows,
  listShape,
  orderColumns,
  type PageRequest,
  type Position,
} from "@tocsin/core/model/ListDefinitions"
import {
  type Fixed,
  listedStatesOf,
  type Order,
  startBeyond,
  pageBounds,
} from "@tocsin/core/engine/lists/listPlan"
import { forNames } from "@tocsin/core/model/StoredTables"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import { columnsOf, decoder } from "../tables/makeTable.ts"
import { areEqual, type Fragment, type Occurring, type Selection, selectionOf } from "./selections.ts"

/** The table of each list, the columns of its rows, and how they are read. */
interface Listed<Row> {
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly decode: (row: object) => Row
}

const tables = forNames<ListName, { readonly [L in ListName]: Listed<ListRows[L]> }>(listNames, (list) => {
  const shape = listShape(list)
  return { table: shape.name, columns: columnsOf(shape), decode: decoder(shape) }
})

/** One index lookup per notifier, however many items there are. Programs bring notifiers: no list has them. */
const FIND_NOTIFIERS = `
  WITH RECURSIVE found (state, notifier) AS (
    SELECT value, (SELECT min(notifier) FROM outbox WHERE listed_state = value) FROM json_each(?)
    UNION ALL
    SELECT state, (SELECT min(notifier) FROM outbox WHERE listed_state = found.state AND notifier > found.notifier)
    FROM found WHERE notifier IS NOT NULL
  )
  SELECT DISTINCT notifier FROM found WHERE notifier IS NOT NULL`

/** Whether pages of a list are merged from ranges of indexes. */
const isMerged = (list: ListName): boolean => list === "incidents" || list === "outbox"

const isOfOneNotifier = (filter: object): boolean => "notifier" in filter && filter.notifier !== undefined

/** Keeps prepared statements: one for each list, sort, direction and set of filters, some hundreds. */
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
    return isMerged(request.list) ? firstOf(request, rows) : rows
  }
  return <L extends ListName>(request: PageRequest<L>): ReadonlyArray<ListRows[L]> => {
    if (request.list !== "outbox" || isOfOneNotifier(request.filter))
      return rowsOf(request, { notifiers: [] })
    return connection.snapshot(() => {
      const states = JSON.stringify(listedStatesOf({}))
      return rowsOf(request, { notifiers: notifiers.all(states).map(([name]) => name) })
    })
  }
}

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
 * page of the outbox with 41 notifiers takes half as long in statements of 56 as in one. Four
 * notifiers need one statement.
 */
const MOST_ARMS = 56

/**
 * The statements that read a page: the rows beyond a position, each order by its own index; none if no row can
 * be there. The rows of several are those of the page in one snapshot, and more. Merged ranges pass on keys
 * alone, so that only rows of the page are looked up, in no order.
 */
export const pageStatements = <L extends ListName>(
  request: PageRequest<L>,
  occurring: Occurring,
): ReadonlyArray<Fragment> => {
  const selection = selectionOf(request, occurring)
  const columns = orderColumns(request.list, request.sort).map((column) => column.name)
  const order = { columns, isAscending: (request.direction === "asc") !== request.isBackward }
  const { start, end } = pageBounds(request)
  const arms = [selection, ...(selection.others ?? [])].flatMap((part) =>
    armsOf(part, order).flatMap((fixed) => {
      const beyond = beyondPosition(start, fixed, order, part.ordered)
      const before = beyondPosition(end, fixed, { columns, isAscending: !order.isAscending }, part.ordered)
      if (beyond === undefined || before === undefined) return []
      return [
        { ...part, conditions: [...part.conditions, ...areEqual(part.ordered, fixed), ...beyond, ...before] },
      ]
    }),
  )
  const isFixed = (column: string) => selection.fixed.some((one) => one.column === column)
  const inOrder = (owner: string) =>
    `ORDER BY ${columns
      .filter((column) => !isFixed(column))
      .map((column) => `${owner}${column} ${order.isAscending ? "ASC" : "DESC"}`)
      .join(", ")} LIMIT ?`
  const { columns: all, table } = tables[request.list]
  const select = (names: ReadonlyArray<string>, { conditions, from, ordered }: Selection) =>
    selectWhere(
      names.map((name) => `${columns.includes(name) ? ordered : "r"}.${name} AS ${name}`).join(", "),
      from,
      conditions,
    )
  const [only, ...more] = arms
  if (only !== undefined && more.length === 0) {
    const { sql, values } = select(all, only)
    return [{ sql: `${sql} ${inOrder(`${only.ordered}.`)}`, values: [...values, request.limit] }]
  }
  return Array.from({ length: Math.ceil(arms.length / MOST_ARMS) }, (_, n) => {
    const merged = arms.slice(n * MOST_ARMS, (n + 1) * MOST_ARMS).map((arm) => select(columns, arm))
    const page = `${merged.map(({ sql }) => sql).join(" UNION ALL ")} ${inOrder("")}`
    return {
      sql: `SELECT ${all.map((name) => `r.${name}`).join(", ")}
        FROM (${page}) AS page CROSS JOIN ${table} AS r ON r.id = page.id`,
      values: [...merged.flatMap(({ values }) => values), request.limit],
    }
  })
}

const selectWhere = (results: string, from: Fragment, conditions: ReadonlyArray<Fragment>): Fragment => ({
  sql:
    conditions.length === 0
      ? `SELECT ${results} FROM ${from.sql}`
      : `SELECT ${results} FROM ${from.sql} WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`,
  values: [...from.values, ...conditions.flatMap(({ values }) => values)],
})

/** One for each combination of the partitions. A partition that begins the order itself needs no parts. */
const armsOf = ({ fixed, partitions }: Selection, order: Order): ReadonlyArray<ReadonlyArray<Fixed>> => {
  const isOrdered = (fixes: ReadonlyArray<Fixed>) =>
    fixes.every(({ column }) => order.columns.includes(column))
  return partitions
    .filter((choices) => choices.length < 2 || !choices.every(isOrdered))
    .reduce<ReadonlyArray<ReadonlyArray<Fixed>>>(
      (arms, choices) => arms.flatMap((arm) => choices.map((choice) => [...arm, ...choice])),
      [fixed],
    )
}

/** The condition for rows beyond a position, where some columns are fixed; see {@link startBeyond}. */
const beyondPosition = (
  position: Position | undefined,
  fixed: ReadonlyArray<Fixed>,
  order: Order,
  table: Selection["ordered"],
): ReadonlyArray<Fragment> | undefined => {
  const start = startBeyond(position, fixed, order)
  if (start === undefined || start.compared.length === 0) return start && []
  const names = start.compared.map(({ column }) => `${table}.${column}`).join(", ")
  const marks = start.compared.map(() => "?").join(", ")
  const operator = `${order.isAscending ? ">" : "<"}${start.isInclusive ? "=" : ""}`
  return [{ sql: `(${names}) ${operator} (${marks})`, values: start.compared.map(({ value }) => value) }]
}
