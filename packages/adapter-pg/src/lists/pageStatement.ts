import {
  type ListName,
  orderColumns,
  type PageRequest,
  type SortColumn,
} from "@tocsin/core/engine/lists/ListDefinitions"
import type { ListSource } from "./ListSource.ts"
import { listSources } from "./listSources.ts"
import { Parameters } from "./Parameters.ts"

/** A statement that reads one page of a list, put together from constant fragments; every value is a parameter. */
export interface PageStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** Which way a page is read, and from where, by the columns that rows still differ in, qualified by the source's alias. */
interface Reading {
  readonly columns: ReadonlyArray<string>
  readonly isDescending: boolean
  /** Placeholders of the position to start from, one a column. */
  readonly from: ReadonlyArray<string> | undefined
  readonly isInclusive: boolean
}

/** The statement of a page: a range of an index, whatever the page's depth. */
export const pageStatement = <L extends ListName>(request: PageRequest<L>): PageStatement => {
  const parameters = new Parameters()
  const source = listSources[request.list](request.filter, parameters, request.sort)
  const reading = readingOf(request, source, parameters)
  const limit = parameters.add(request.limit, "int8")
  const text = source.spread === undefined ? plain(source, reading, limit) : spread(source, reading, limit)
  return { text, values: parameters.values }
}

const readingOf = <L extends ListName>(
  { list, sort, direction, isBackward, from }: PageRequest<L>,
  { alias, expressions, first, fixed }: ListSource,
  parameters: Parameters,
): Reading => {
  const varying = Array.from(orderColumns(list, sort).entries()).filter(([, { name }]) => !fixed?.has(name))
  const isFirst = (column: string) => Number(column === first?.name)
  varying.sort(([, a], [, b]) => isFirst(b.name) - isFirst(a.name))
  return {
    columns: varying.map(([, { name }]) => expressions?.[name] ?? `${alias}.${name}`),
    isDescending: (direction === "desc") !== isBackward,
    from: from && varying.map(([index, column]) => parameters.add(from.values[index], sqlType(column))),
    isInclusive: from?.isInclusive ?? false,
  }
}

const sqlType = ({ type }: SortColumn<never>): "text" | "int8" => (type === "text" ? "text" : "int8")

/** The rows beyond a position, by row comparison, which an index over these columns answers as one range. */
const beyond = ({ columns, from, isDescending, isInclusive }: Reading): ReadonlyArray<string> => {
  if (from === undefined) return []
  const operator = `${isDescending ? "<" : ">"}${isInclusive ? "=" : ""}`
  return [`(${columns.join(", ")}) ${operator} (${from.join(", ")})`]
}

/** The condition on {@link ListSource.first}. */
const ofFirst = ({ alias, first }: ListSource, { from, isDescending }: Reading): ReadonlyArray<string> => {
  if (first === undefined) return []
  const otherSide = isDescending ? ">=" : "<="
  return [`${alias}.${first.name} ${from === undefined ? "=" : otherSide} ${first.value}`]
}

const inOrder = ({ columns, isDescending }: Reading, limit: string): string => {
  const order = columns.map((column) => `${column} ${isDescending ? "DESC" : "ASC"}`)
  return `ORDER BY ${order.join(", ")} LIMIT ${limit}`
}

const where = (conditions: ReadonlyArray<string>): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`

const plain = (source: ListSource, reading: Reading, limit: string): string => {
  const { alias, columns, conditions, table } = source
  return `SELECT ${columns} FROM ${source.from ?? `${table} AS ${alias}`}
    ${where([...conditions, ...ofFirst(source, reading), ...beyond(reading)])} ${inOrder(reading, limit)}`
}

const spread = (
  { alias, columns, table, ...source }: ListSource,
  reading: Reading,
  limit: string,
): string => {
  const leading = source.spread ?? []
  const sets = leading.map(({ name, values }) => `LATERAL ${values} AS of_${name} (${name})`)
  const isOf = leading.map(({ name }) => `${alias}.${name} = of_${name}.${name}`)
  return `SELECT ${columns} FROM ${sets.join(" CROSS JOIN ")} CROSS JOIN LATERAL (
      SELECT ${alias}.* FROM ${table} AS ${alias}
      ${where([...source.conditions, ...isOf, ...beyond(reading)])} ${inOrder(reading, limit)}
    ) AS ${alias} ${inOrder(reading, limit)}`
}
