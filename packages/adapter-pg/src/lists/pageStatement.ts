import type { Fragment, ListPart, ListPlan, SortValue } from "@tocsin/core/kernel/model/ListPlan"
import {
  type ListName,
  listNames,
  type ListRows,
  listShape,
  type PageRequest,
  listPlan,
} from "@tocsin/core/lists/ListDefinitions"
import {
  type Arm,
  armsOf,
  type Order,
  ownerOf,
  type PageBounds,
  pageBounds,
  pageOrder,
  type Start,
} from "@tocsin/core/lists/pageArms"
import { isListed } from "@tocsin/core/heart/model/outboxList"
import { leadingTables } from "@tocsin/core/kernel/schema/leadingTables"
import { forNames } from "@tocsin/core/lists/StoredTables"
import { Effect } from "effect"
import type { SqlClient, SqlConnection } from "effect/sql"
import { read } from "../Database.ts"
import { decoder, selectList } from "../tables/makeTable.ts"

/** One index lookup per notifier of a state, however many items there are. Programs bring notifiers: no list has them. */
export const notifiersOf = (state: string): string => `(
    WITH RECURSIVE found AS (
      (SELECT o.notifier FROM outbox AS o WHERE ${isOf(state)} ORDER BY o.notifier LIMIT 1)
      UNION ALL
      SELECT (SELECT o.notifier FROM outbox AS o WHERE ${isOf(state)} AND o.notifier > found.notifier
        ORDER BY o.notifier LIMIT 1)
      FROM found WHERE found.notifier IS NOT NULL
    )
    SELECT notifier FROM found WHERE notifier IS NOT NULL
  )`

/** Whether an item `o` is in the indexes of lists, under a state. */
export const isOf = (state: string): string => `o.listed_state = ${state} AND ${isListed("o")}`

/** A statement that reads one page, made of constant fragments; every value is a parameter. */
export interface PageStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

type Decoders = { readonly [L in ListName]: (row: SqlConnection.Row) => ListRows[L] }

const decoders = forNames<ListName, Decoders>(listNames, (list) => decoder(listShape(list)))

export const readPage = <L extends ListName>(sql: SqlClient.SqlClient, request: PageRequest<L>) => {
  const { text, values } = pageStatement(request)
  const decode: Decoders[L] = decoders[request.list]
  return Effect.map(read(sql, text, values), (rows): ReadonlyArray<ListRows[L]> => rows.map(decode))
}

/** Adds a value to those of the statement. Returns its placeholder, cast to its type. */
type Add = (value: SortValue | ReadonlyArray<SortValue>) => string

const adderTo =
  (values: Array<unknown>): Add =>
  (value) => {
    values.push(value)
    const [first] = Array.isArray(value) ? value : [value]
    return `$${values.length}::${typeof first === "string" ? "text" : "int8"}${Array.isArray(value) ? "[]" : ""}`
  }

/** The statement of a page: ranges of an index, whatever the page's depth. */
export const pageStatement = <L extends ListName>(request: PageRequest<L>): PageStatement => {
  const { columns, name: table } = listShape(request.list)
  const values: Array<unknown> = []
  const page = {
    table,
    order: pageOrder(request),
    bounds: pageBounds(request),
    limit: request.limit,
    add: adderTo(values),
  }
  const plan = listPlan(request)
  const text = textOf(page, plan, selectList(columns, "r"))
  return text === undefined
    ? { text: `SELECT ${selectList(columns, "r")} FROM ${table} AS r WHERE false`, values: [] }
    : { text, values }
}

interface Page {
  readonly table: string
  readonly order: Order
  readonly bounds: PageBounds
  readonly limit: number
  readonly add: Add
}

/** `undefined` if no row can be there. */
const textOf = (page: Page, { occurring, parts }: ListPlan, columns: string): string | undefined => {
  const [only, ...others] = parts
  if (only !== undefined && others.length === 0 && only.partitions === undefined)
    return plain(page, only, columns)
  const keys = parts.flatMap((part) => (part.isSorted ? sorted(page, part) : ofArms(page, part, occurring)))
  if (keys.length === 0) return undefined
  const inOrder = `ORDER BY ${page.order.columns.map((column) => `page.${column} ${directionOf(page)}`).join(", ")}`
  return `SELECT ${columns} FROM (
      SELECT * FROM (${keys.join(" UNION ALL ")}) AS page ${inOrder} LIMIT ${page.add(page.limit)}
    ) AS page CROSS JOIN LATERAL (SELECT * FROM ${page.table} WHERE id = page.id OFFSET 0) AS r ${inOrder}`
}

/** A page of one range. */
const plain = (page: Page, part: ListPart, columns: string): string | undefined => {
  const [arm] = armsOf(part, page.bounds, page.order)
  if (arm === undefined) return undefined
  const conditions = [...areFixed(page, part), ...within(page, part, arm), ...conditionsOf(page, part)]
  return `SELECT ${columns} FROM ${sourceOf(page, part)} ${whereOf(conditions)} ${firstRows(page, part, part.fixed)}`
}

const whereOf = (conditions: ReadonlyArray<string>): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`

/** The keys of the few rows that no index has in order. */
const sorted = (page: Page, part: ListPart): ReadonlyArray<string> =>
  // Their rows are of any phase and severity.
  armsOf({ fixed: [] }, page.bounds, page.order).map((arm) => {
    const conditions = [...areFixed(page, part), ...conditionsOf(page, part), ...within(page, part, arm)]
    return `SELECT ${keysOf(page, part)} FROM ${sourceOf(page, part)} ${whereOf(conditions)}`
  })

/** The keys of the first rows of each arm: one range of an index each. Merged ranges pass on keys alone. */
const ofArms = (page: Page, part: ListPart, occurring: ListPlan["occurring"]): ReadonlyArray<string> => {
  const arms = armsOf(part, page.bounds, page.order)
  const [first] = arms
  if (first === undefined) return []
  const owner = ownerOf(part)
  // Each arm has the columns of the first, in its order.
  const open = first.fixed.slice(part.fixed.length).map(({ column }) => column)
  const { compared, isInclusive } = startsOf(arms, page.order)
  const given = [
    ...open.map((column, index) => ({
      column,
      values: arms.flatMap(({ fixed }) => fixed[part.fixed.length + index]?.value ?? []),
    })),
    ...compared.map(({ column, values }) => ({ column: `from_${column}`, values })),
  ]
  const sets = [
    `unnest(${given.map(({ values }) => page.add(values)).join(", ")}) AS arm (${given.map(({ column }) => column).join(", ")})`,
    ...(occurring === undefined ? [] : [`${notifiersOf("arm.listed_state")} AS occurring (${occurring})`]),
  ]
  const conditions = [
    ...areFixed(page, part),
    ...open.map((column) => `${owner}.${column} = arm.${column}`),
    ...(occurring === undefined ? [] : [`${owner}.${occurring} = occurring.${occurring}`]),
    ...comparison(
      compared.map(({ column }) => columnOf(page, part, column)),
      { isAscending: page.order.isAscending, isInclusive },
      compared.map(({ column }) => `arm.from_${column}`),
    ),
    ...beyond(page, part, first.end, !page.order.isAscending),
    ...conditionsOf(page, part),
  ]
  return [
    `SELECT found.* FROM ${sets.join(" CROSS JOIN LATERAL ")} CROSS JOIN LATERAL (
      SELECT ${keysOf(page, part)} FROM ${sourceOf(page, part)}
      WHERE ${conditions.join(" AND ")} ${firstRows(page, part, first.fixed)}
    ) AS found`,
  ]
}

/** Before all rows, or after them. */
const endOf = (value: SortValue, isLeast: boolean): SortValue => {
  if (typeof value === "string") return isLeast ? "" : "\u{10ffff}"
  return isLeast ? -9_223_372_036_854_775_808n : 9_223_372_036_854_775_807n
}

/** Where each arm starts: all at one position, but for those whose rows all lie beyond it. */
const startsOf = (arms: ReadonlyArray<Arm>, { isAscending }: Order) => {
  const starts = arms.map(({ start }) => start)
  const one = starts.find(({ compared }) => compared.length > 0)
  const compared = (one?.compared ?? []).map(({ column, value }, index) => ({
    column,
    values: starts.map((start) => start.compared[index]?.value ?? endOf(value, isAscending)),
  }))
  return { compared, isInclusive: one?.isInclusive ?? true }
}

/** OFFSET 0 makes PostgreSQL look up each row's agent alone: it would plan a join as if hardly any row had an agent. */
const PRESENT = `CROSS JOIN LATERAL (
    SELECT FROM agent WHERE agent_id = r.agent_id AND registration_id = r.registration_id OFFSET 0
  ) AS present`

/** A check that never reported has no row in the second table; each is looked up alone. */
const REPORTED = `LEFT JOIN LATERAL (
    SELECT status, summary FROM check_state
    WHERE agent_id = r.agent_id AND check_id = r.check_id AND registration_id = r.registration_id OFFSET 0
  ) AS c ON TRUE`

/** The rows of a part. Keys in order that need no condition are read from the leading table alone. */
const sourceOf = (page: Page, part: ListPart): string => {
  const { add, table } = page
  const { by, few, hasReported, isOfPresentAgents } = part
  const rows =
    few === undefined
      ? `${table} AS r`
      : `(SELECT * FROM ${table} AS r WHERE ${filled(few, add)} OFFSET 0) AS r`
  if (by === undefined)
    return [rows, ...(isOfPresentAgents ? [PRESENT] : []), ...(hasReported ? [REPORTED] : [])].join(" ")
  const leading = `${leadingTables[by]} AS l`
  if (few !== undefined) {
    const conditions = ["l.id = r.id", ...fixedBy(page, part)].join(" AND ")
    return `${rows} CROSS JOIN LATERAL (SELECT FROM ${leading} WHERE ${conditions} OFFSET 0) AS l`
  }
  if (part.partitions !== undefined && (part.conditions ?? []).length === 0) return leading
  return `${leading} CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE id = l.id OFFSET 0) AS r`
}

const filled = ({ sql, values }: Fragment, add: Add): string => {
  const [head = "", ...rest] = sql.split("?")
  return rest.reduce((text, piece, index) => `${text}${add(values[index] ?? "")}${piece}`, head)
}

const memberOf = (column: string, name: string): string => `${column} ->> '${name}'`

const conditionsOf = (
  { add }: Page,
  { by, conditions = [], few, searched }: ListPart,
): ReadonlyArray<string> => [
  ...conditions.map((condition) => filled(condition, add)),
  ...(searched?.words ?? []).map((word) => `strpos(${searched?.text(memberOf)}, ${add(word)}) > 0`),
  // The condition of its indexes.
  ...(by === "listed_member" && few === undefined ? ["l.phase >= 0"] : []),
]

const fixedBy = ({ add }: Page, { by, fixed }: ListPart): ReadonlyArray<string> =>
  fixed.map(({ column, value }) => `${by === undefined ? "r" : "l"}.${column} = ${add(value)}`)

/** Few rows that lead to another table are looked up there by these conditions, in their source. */
const areFixed = (page: Page, part: ListPart): ReadonlyArray<string> =>
  part.few !== undefined && part.by !== undefined ? [] : fixedBy(page, part)

/** The primary key has the order of the whole history, and must not serve a part of it. */
const columnOf = ({ table }: Page, part: ListPart, column: string): string =>
  table === "check_event" && part.fixed.length > 0 ? `(r.${column} + 0)` : `${ownerOf(part)}.${column}`

const keysOf = (page: Page, part: ListPart): string =>
  page.order.columns.map((column) => columnOf(page, part, column)).join(", ")

const within = (page: Page, part: ListPart, { end, start }: Arm): ReadonlyArray<string> => [
  ...beyond(page, part, start, page.order.isAscending),
  ...beyond(page, part, end, !page.order.isAscending),
]

const beyond = (
  page: Page,
  part: ListPart,
  { compared, isInclusive }: Start,
  isAscending: boolean,
): ReadonlyArray<string> =>
  comparison(
    compared.map(({ column }) => columnOf(page, part, column)),
    { isAscending, isInclusive },
    compared.map(({ value }) => page.add(value)),
  )

/** Compares rows with a position: one range of an index over these columns. */
const comparison = (
  columns: ReadonlyArray<string>,
  { isAscending, isInclusive }: { readonly isAscending: boolean; readonly isInclusive: boolean },
  position: ReadonlyArray<string>,
): ReadonlyArray<string> =>
  columns.length === 0
    ? []
    : [`(${columns.join(", ")}) ${isAscending ? ">" : "<"}${isInclusive ? "=" : ""} (${position.join(", ")})`]

const directionOf = ({ order }: Page): string => (order.isAscending ? "ASC" : "DESC")

const firstRows = (page: Page, part: ListPart, fixed: ListPart["fixed"]): string => {
  const columns = page.order.columns
    .filter((column) => !fixed.some((one) => one.column === column))
    .map((column) => `${columnOf(page, part, column)} ${directionOf(page)}`)
  return `ORDER BY ${columns.join(", ")} LIMIT ${page.add(page.limit)}`
}
