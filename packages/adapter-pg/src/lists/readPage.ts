import type { BlockedKeyRecord } from "@tocsin/core/model/AgentRecord"
import {
  type ListName,
  type ListRows,
  orderColumns,
  type SortColumn,
  type PageRequest,
  type Position,
} from "@tocsin/core/model/ListDefinitions"
import { pageBounds } from "@tocsin/core/engine/lists/arms"
import { Effect } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import { read } from "../Database.ts"
import { incidentPage } from "./incidentPage.ts"
import { agentTable, keyTable } from "../tables/AgentTable.ts"
import { auditTable } from "../tables/AuditTable.ts"
import { checkTable, historyTable, expectationTable } from "../tables/CheckTable.ts"
import { incidentTable } from "../tables/IncidentTable.ts"
import type { Table } from "../tables/makeTable.ts"
import { keyedTables, operatorTable, silenceTable } from "../tables/keyedTables.ts"
import { outboxTable } from "../tables/OutboxTable.ts"
import { Parameters, type Selection, selections, type PageStatement } from "./selections.ts"

/** The table of each list, and how its rows are read. */
type Listed<Row> = Pick<Table<Row>, "name" | "alias" | "columns" | "decode">

const tables: { readonly [L in ListName]: Listed<ListRows[L]> } = {
  agents: agentTable,
  checks: checkTable,
  overdue: expectationTable,
  history: historyTable,
  incidents: incidentTable,
  outbox: outboxTable,
  operators: operatorTable,
  integrations: keyedTables.integration,
  enrolments: keyedTables.enrolment,
  watches: keyedTables.watch,
  audit: auditTable,
  silences: silenceTable,
  // The list selects blocked keys only.
  blacklist: { ...keyTable, decode: (row) => keyTable.decode(row) as BlockedKeyRecord },
}

/** Reads one page of a list; see `Storage.page`. */
export const readPage = <L extends ListName>(
  sql: SqlClient.SqlClient,
  request: PageRequest<L>,
): Effect.Effect<ReadonlyArray<ListRows[L]>, SqlError.SqlError> => {
  const statement = pageStatement(request)
  const decode: (row: SqlConnection.Row) => ListRows[L] = tables[request.list].decode
  return Effect.map(read(sql, statement.text, statement.values), (rows) => rows.map(decode))
}

/** The direction and start of a page, by the columns in which rows still differ. */
interface Reading {
  readonly columns: ReadonlyArray<string>
  readonly isDescending: boolean
  /** Placeholders of the position to start from, one a column. */
  readonly from: ReadonlyArray<string> | undefined
  readonly isInclusive: boolean
  /** The position to end at, and whether a row there belongs to the page. */
  readonly until: ReadonlyArray<string> | undefined
  readonly endsInclusive: boolean
}

type Source = Selection & Pick<Table<unknown>, "name" | "alias" | "columns">

/** The statement of a page: ranges of an index, whatever the page's depth. */
export const pageStatement = <L extends ListName>(request: PageRequest<L>): PageStatement =>
  statements[request.list](request)

const pageOfTable = <L extends Exclude<ListName, "incidents">>(request: PageRequest<L>): PageStatement => {
  const parameters = new Parameters()
  const { alias, columns, name } = tables[request.list]
  const selection = selections[request.list](request.filter, parameters)
  const source = { alias, columns, name, ...selection }
  const reading = readingOf(request, source, parameters)
  const limit = parameters.add(request.limit, "int8")
  const text = source.spread === undefined ? plain(source, reading, limit) : spread(source, reading, limit)
  return { text, values: parameters.values }
}

const statements: { readonly [L in ListName]: (request: PageRequest<L>) => PageStatement } = {
  agents: pageOfTable,
  checks: pageOfTable,
  overdue: pageOfTable,
  history: pageOfTable,
  incidents: incidentPage,
  outbox: pageOfTable,
  operators: pageOfTable,
  integrations: pageOfTable,
  enrolments: pageOfTable,
  watches: pageOfTable,
  audit: pageOfTable,
  silences: pageOfTable,
  blacklist: pageOfTable,
}

const readingOf = <L extends ListName>(
  request: PageRequest<L>,
  { alias, expressions, fixed }: Source,
  parameters: Parameters,
): Reading => {
  const { list, sort, direction, isBackward } = request
  const { start, end } = pageBounds(request)
  const varying = Array.from(orderColumns(list, sort).entries()).filter(([, { name }]) => !fixed?.has(name))
  const at = (position: Position | undefined) =>
    position && varying.map(([index, column]) => parameters.add(position.values[index], sqlType(column)))
  return {
    columns: varying.map(([, { name }]) => expressions?.[name] ?? `${alias}.${name}`),
    isDescending: (direction === "desc") !== isBackward,
    from: at(start),
    isInclusive: start?.isInclusive ?? false,
    until: at(end),
    endsInclusive: end?.isInclusive ?? false,
  }
}

const sqlType = ({ type }: SortColumn<never>): "text" | "int8" => (type === "text" ? "text" : "int8")

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

const plain = (source: Source, reading: Reading, limit: string): string => {
  const { alias, columns, conditions = [], from, name } = source
  return `SELECT ${columns} FROM ${from ?? `${name} AS ${alias}`}
    ${where([...conditions, ...between(reading)])} ${inOrder(reading, limit)}`
}

const spread = ({ alias, columns, name, ...source }: Source, reading: Reading, limit: string): string => {
  const leading = source.spread ?? []
  const sets = leading.map((column) => `LATERAL ${column.values} AS of_${column.name} (${column.name})`)
  const isOf = leading.map((column) => `${alias}.${column.name} = of_${column.name}.${column.name}`)
  return `SELECT ${columns} FROM ${sets.join(" CROSS JOIN ")} CROSS JOIN LATERAL (
      SELECT ${alias}.* FROM ${name} AS ${alias}
      ${where([...(source.conditions ?? []), ...isOf, ...between(reading)])} ${inOrder(reading, limit)}
    ) AS ${alias} ${inOrder(reading, limit)}`
}
