import { pageBounds } from "@tocsin/core/engine/lists/listPlan"
import { forNames } from "@tocsin/core/model/StoredTables"
import {
  type ListName,
  listNames,
  type ListRows,
  listShape,
  orderColumns,
  type PageRequest,
  type Position,
} from "@tocsin/core/model/ListDefinitions"
import { Effect } from "effect"
import type { SqlClient, SqlConnection } from "effect/sql"
import { read } from "../Database.ts"
import { decoder, selectList } from "../tables/makeTable.ts"
import { incidentPage } from "./incidentPage.ts"
import { type PageStatement, Parameters, type Selection, selectionOf } from "./selections.ts"

type Decoders = { readonly [L in ListName]: (row: SqlConnection.Row) => ListRows[L] }

const decoders = forNames<ListName, Decoders>(listNames, (list) => decoder(listShape(list)))

/** Reads one page of a list; see `Storage.page`. */
export const readPage = <L extends ListName>(sql: SqlClient.SqlClient, request: PageRequest<L>) => {
  const { text, values } = pageStatement(request)
  const decode: Decoders[L] = decoders[request.list]
  return Effect.map(read(sql, text, values), (rows): ReadonlyArray<ListRows[L]> => rows.map(decode))
}

const isOfIncidents = (request: { readonly list: ListName }): request is PageRequest<"incidents"> =>
  request.list === "incidents"

/** The statement of a page: ranges of an index, whatever the page's depth. */
export const pageStatement = <L extends ListName>(request: PageRequest<L>): PageStatement => {
  if (isOfIncidents(request)) return incidentPage(request)
  const parameters = new Parameters()
  const selection = selectionOf(request, parameters)
  const reading = readingOf(request, selection, parameters)
  const limit = parameters.add(request.limit, "int8")
  const text = (selection.spread === undefined ? plain : spread)(
    listShape(request.list),
    selection,
    reading,
    limit,
  )
  return { text, values: parameters.values }
}

/** The direction and start of a page, by the columns in which rows still differ. */
interface Reading {
  readonly columns: ReadonlyArray<string>
  readonly isDescending: boolean
  /** The position to start from, and the one to end at: placeholders, one a column. */
  readonly from: ReadonlyArray<string> | undefined
  readonly isInclusive: boolean
  readonly until: ReadonlyArray<string> | undefined
  readonly endsInclusive: boolean
}

const readingOf = <L extends ListName>(
  request: PageRequest<L>,
  { expressions, fixed }: Selection,
  parameters: Parameters,
): Reading => {
  const { list, sort, direction, isBackward } = request
  const { start, end } = pageBounds(request)
  const varying = Array.from(orderColumns(list, sort).entries()).filter(([, { name }]) => !fixed?.has(name))
  const at = (position: Position | undefined) =>
    position &&
    varying.map(([index, { type }]) =>
      parameters.add(position.values[index], type === "text" ? type : "int8"),
    )
  return {
    columns: varying.map(([, { name }]) => expressions?.[name] ?? `r.${name}`),
    isDescending: (direction === "desc") !== isBackward,
    from: at(start),
    isInclusive: start?.isInclusive ?? false,
    until: at(end),
    endsInclusive: end?.isInclusive ?? false,
  }
}

/** The rows between the positions, by row comparison: one range of an index over these columns. */
const between = (reading: Reading): ReadonlyArray<string> => {
  const { columns, from, until, isDescending, isInclusive, endsInclusive } = reading
  const compare = (position: ReadonlyArray<string> | undefined, operator: string, orEqual: boolean) =>
    position === undefined
      ? []
      : [`(${columns.join(", ")}) ${operator}${orEqual ? "=" : ""} (${position.join(", ")})`]
  return [
    ...compare(from, isDescending ? "<" : ">", isInclusive),
    ...compare(until, isDescending ? ">" : "<", endsInclusive),
  ]
}

const inOrder = ({ columns, isDescending }: Reading, limit: string): string => {
  const order = columns.map((column) => `${column} ${isDescending ? "DESC" : "ASC"}`)
  return `ORDER BY ${order.join(", ")} LIMIT ${limit}`
}

const where = (conditions: ReadonlyArray<string>): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`

type Shape = ReturnType<typeof listShape>

const plain = ({ columns, name }: Shape, selection: Selection, reading: Reading, limit: string): string => {
  const { conditions = [], from = `${name} AS r` } = selection
  return `SELECT ${selectList(columns, "r")} FROM ${from}
    ${where([...conditions, ...between(reading)])} ${inOrder(reading, limit)}`
}

const spread = ({ columns, name }: Shape, selection: Selection, reading: Reading, limit: string): string => {
  const leading = selection.spread ?? []
  const sets = leading.map((column) => `LATERAL ${column.values} AS of_${column.name} (${column.name})`)
  const isOf = leading.map((column) => `r.${column.name} = of_${column.name}.${column.name}`)
  return `SELECT ${selectList(columns, "r")} FROM ${sets.join(" CROSS JOIN ")} CROSS JOIN LATERAL (
      SELECT r.* FROM ${name} AS r
      ${where([...(selection.conditions ?? []), ...isOf, ...between(reading)])} ${inOrder(reading, limit)}
    ) AS r ${inOrder(reading, limit)}`
}
