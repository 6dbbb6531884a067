import type { Fragment, ListPart, SortValue } from "@tocsin/core/kernel/model/ListPlan"
import { isListed, LISTED_STATES } from "@tocsin/core/heart/model/outboxList"
import {
  type ListName,
  listNames,
  type ListRows,
  listShape,
  orderColumns,
  type PageRequest,
  type Position,
  listPlan,
} from "@tocsin/core/lists/ListDefinitions"
import {
  type Arm,
  armsOf,
  type Order,
  ownerOf,
  pageBounds,
  pageOrder,
  type Start,
} from "@tocsin/core/lists/pageArms"
import { leadingTables } from "@tocsin/core/kernel/schema/leadingTables"
import { forNames } from "@tocsin/core/lists/StoredTables"
import { Effect } from "effect"
import type { SQLInputValue } from "node:sqlite"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import { columnsOf, decoder } from "../tables/makeTable.ts"
import type { Read } from "../connection/SqliteFailures.ts"

interface Statement {
  readonly sql: string
  readonly values: ReadonlyArray<SQLInputValue>
}

/** Values that occur in a table, and are not known before. */
interface Occurring {
  readonly notifiers: ReadonlyArray<string>
}

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
    SELECT value, (SELECT min(notifier) FROM outbox AS o WHERE ${isListed("o")} AND listed_state = value) FROM json_each(?)
    UNION ALL
    SELECT state, (SELECT min(notifier) FROM outbox AS o
      WHERE ${isListed("o")} AND listed_state = found.state AND notifier > found.notifier)
    FROM found WHERE notifier IS NOT NULL
  )
  SELECT DISTINCT notifier FROM found WHERE notifier IS NOT NULL`

/** Rows that a search passes at once, whatever it finds: some milliseconds. */
const PASSED_TOGETHER = 2_000

/** Keeps prepared statements: one for each list, sort, direction and set of filters, some hundreds. */
export const makePageReads = (connection: SqliteConnection, read: Read) => {
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
    until?: Position,
  ): ReadonlyArray<ListRows[L]> => {
    const decode: (row: object) => ListRows[L] = tables[request.list].decode
    const found = pageStatements(request, occurring, until).map(({ sql, values }) =>
      prepare(sql).all(...values),
    )
    const rows = found.flat().map(decode)
    const isMerged = listPlan(request).parts.some(({ partitions }) => partitions !== undefined)
    return isMerged ? firstOf(request, rows) : rows
  }
  const pageOf = <L extends ListName>(request: PageRequest<L>): ReadonlyArray<ListRows[L]> =>
    listPlan(request).occurring === undefined
      ? rowsOf(request, { notifiers: [] })
      : connection.snapshot(() =>
          rowsOf(request, { notifiers: notifiers.all(JSON.stringify(LISTED_STATES)).map(([name]) => name) }),
        )
  /** The rows of a search among the next that it passes, and where these end if others follow. */
  const passOf = <L extends ListName>(request: PageRequest<L>) =>
    connection.snapshot(() => {
      const pass = passStatement(request)
      const [last] = pass === undefined ? [] : prepare(pass.sql).all(...pass.values)
      // Its columns are those of the order.
      const until = last && { values: Object.values(last) as ReadonlyArray<SortValue>, isInclusive: false }
      return { rows: rowsOf(request, { notifiers: [] }, until), until }
    })
  const search = Effect.fnUntraced(function* <L extends ListName>(request: PageRequest<L>) {
    const found: Array<ListRows[L]> = []
    let from = request.from
    do {
      const asked = { ...request, from, limit: request.limit - found.length }
      const { rows, until } = yield* read(() => passOf(asked))
      found.push(...rows)
      from = until
    } while (from !== undefined && found.length < request.limit)
    return found
  })
  return <L extends ListName>(request: PageRequest<L>) =>
    listPlan(request).parts.some(passesRows) ? search(request) : read(() => pageOf(request))
}

/** Whether a part may pass many rows that are not on its page. */
const passesRows = ({ conditions = [], searched }: ListPart): boolean =>
  searched !== undefined && (searched.words.length > 0 || conditions.some(({ values }) => values.length > 0))

/** The order of a page, and its words in a statement. */
const orderOf = <L extends ListName>(request: PageRequest<L>) => {
  const order = pageOrder(request)
  const { columns } = order
  const inOrder = (owner: string, fixed: ListPart["fixed"]) =>
    `ORDER BY ${columns
      .filter((column) => !fixed.some((one) => one.column === column))
      .map((column) => `${owner}${column} ${order.isAscending ? "ASC" : "DESC"}`)
      .join(", ")} LIMIT ?`
  return { order, inOrder }
}

/** Finds the last row that a search passes at once, by the index alone; absent if none can be there. */
const passStatement = <L extends ListName>(request: PageRequest<L>): Statement | undefined => {
  const { order, inOrder } = orderOf(request)
  const [{ conditions = [], fixed, index } = { fixed: [] }] = listPlan(request).parts
  const ofIndex = conditions.filter(({ values }) => values.length === 0)
  const part: ListPart = { fixed, conditions: ofIndex, ...(index !== undefined && { index }) }
  const [arm] = armsOf(part, pageBounds(request), order)
  if (arm === undefined) return undefined
  const { sql, values } = select(tables[request.list].table, { part, arm }, order.columns, order)
  return { sql: `${sql} ${inOrder("r.", fixed)} OFFSET ?`, values: [...values, 1, PASSED_TOGETHER - 1] }
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
  { notifiers }: Occurring,
  until?: Position,
): ReadonlyArray<Statement> => {
  const { occurring, parts } = listPlan(request)
  const { order, inOrder } = orderOf(request)
  const { start, end } = pageBounds(request)
  const bounds = { start, end: until === undefined ? end : { ...until, isInclusive: true } }
  const { columns: all, table } = tables[request.list]
  const known: ReadonlyArray<ListPart> =
    occurring === undefined
      ? parts
      : parts.map((part) =>
          part.isSorted
            ? part
            : {
                ...part,
                partitions: [
                  ...(part.partitions ?? []),
                  notifiers.map((value) => [{ column: occurring, value }]),
                ],
              },
        )
  const arms = known.flatMap((part) => armsOf(part, bounds, order).map((arm) => ({ part, arm })))
  const [only, ...more] = arms
  if (only !== undefined && more.length === 0) {
    const { sql, values } = select(table, only, all, order)
    return [
      {
        sql: `${sql} ${inOrder(`${ownerOf(only.part)}.`, only.part.fixed)}`,
        values: [...values, request.limit],
      },
    ]
  }
  return Array.from({ length: Math.ceil(arms.length / MOST_ARMS) }, (_, n) => {
    const merged = arms
      .slice(n * MOST_ARMS, (n + 1) * MOST_ARMS)
      .map((arm) => select(table, arm, order.columns, order))
    const page = `${merged.map(({ sql }) => sql).join(" UNION ALL ")} ${inOrder("", [])}`
    return {
      sql: `SELECT ${all.map((name) => `r.${name}`).join(", ")}
        FROM (${page}) AS page CROSS JOIN ${table} AS r ON r.id = page.id`,
      values: [...merged.flatMap(({ values }) => values), request.limit],
    }
  })
}

/** Hides rows of deleted agents. The rows come first, in their order, each with a lookup of its agent. */
const PRESENT = "CROSS JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id"

/** A check that never reported has no row in the second table. */
const REPORTED = `LEFT JOIN check_state AS c
  ON c.agent_id = r.agent_id AND c.check_id = r.check_id AND c.registration_id = r.registration_id`

const sourceOf = (
  table: string,
  { by, few, hasReported, index, isOfPresentAgents, isSorted }: ListPart,
): string => {
  const rows = index === undefined ? `${table} AS r` : `${table} AS r INDEXED BY ${index}`
  const leading = by && `${leadingTables[by]} AS ${isSorted ? "b" : "l"}`
  if (leading !== undefined)
    return few === undefined
      ? `${leading} CROSS JOIN ${rows} ON r.id = ${isSorted ? "b" : "l"}.id`
      : `${rows} CROSS JOIN ${leading} ON b.id = r.id`
  return [rows, ...(isOfPresentAgents ? [PRESENT] : []), ...(hasReported ? [REPORTED] : [])].join(" ")
}

/** Damaged values have none. */
const memberOf = (column: string, name: string): string =>
  `iif(json_valid(${column}), ${column} ->> '${name}', NULL)`

const select = (
  table: string,
  { arm, part }: { readonly arm: Arm; readonly part: ListPart },
  names: ReadonlyArray<string>,
  order: Order,
): Statement => {
  const ordered = ownerOf(part)
  const fixedIn = part.by === undefined ? "r" : part.isSorted ? "b" : "l"
  const conditions: ReadonlyArray<Fragment> = [
    ...(part.few === undefined ? [] : [part.few]),
    ...(part.conditions ?? []),
    ...(part.searched?.words ?? []).map((word) => ({
      sql: `instr(${part.searched?.text(memberOf)}, ?) > 0`,
      values: [word],
    })),
    ...arm.fixed.map(({ column, value }) => ({ sql: `${fixedIn}.${column} = ?`, values: [value] })),
    ...beyond(ordered, arm.start, order.isAscending),
    ...beyond(ordered, arm.end, !order.isAscending),
  ]
  const results = names.map((name) => `${order.columns.includes(name) ? ordered : "r"}.${name} AS ${name}`)
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`
  return {
    sql: `SELECT ${results.join(", ")} FROM ${sourceOf(table, part)} ${where}`,
    values: conditions.flatMap(({ values }) => values),
  }
}

const beyond = (
  table: string,
  { compared, isInclusive }: Start,
  isAscending: boolean,
): ReadonlyArray<Fragment> => {
  if (compared.length === 0) return []
  const names = compared.map(({ column }) => `${table}.${column}`).join(", ")
  const marks = compared.map(() => "?").join(", ")
  const operator = `${isAscending ? ">" : "<"}${isInclusive ? "=" : ""}`
  return [{ sql: `(${names}) ${operator} (${marks})`, values: compared.map(({ value }) => value) }]
}
