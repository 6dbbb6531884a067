import {
  type ListFilters,
  type ListName,
  type ListRows,
  orderColumns,
  type PageRequest,
  type SortValue,
  stateRank,
} from "@tocsin/core/model/ListDefinitions"
import { pageBounds } from "@tocsin/core/engine/lists/pageBounds"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import { listFilters } from "./listFilters.ts"
import type { Walk } from "./ListOrder.ts"
import type { RegistrationRows } from "./ListedRows.ts"
import type { MemoryTables } from "./MemoryTables.ts"
import type { OrderedList } from "./OrderedList.ts"

/** A list of any table. */
type AnyTable<L extends ListName> = Pick<OrderedList<L, unknown, unknown>, "read">

/** Rows of one agent are few, and its registration leads to them. */
const ofAgent = <L extends "checks" | "overdue">(
  rows: RegistrationRows<L>,
  { agents }: MemoryTables,
  { agent_id }: ListFilters[L],
): AnyTable<L> => {
  if (agent_id === undefined) return rows.list
  const ofIt = rows.get(agents.get(agent_id)?.registration_id ?? "")?.values() ?? []
  return { read: (sort, reading) => rows.list.readAmong(ofIt, sort, reading) }
}

const lists: { readonly [L in ListName]: (tables: MemoryTables, filter: ListFilters[L]) => AnyTable<L> } = {
  agents: ({ agents }) => agents.list,
  checks: (tables, filter) => ofAgent(tables.checks, tables, filter),
  overdue: (tables, filter) => ofAgent(tables.expectations, tables, filter),
  history: ({ history }) => history.list,
  incidents: ({ incidents }) => incidents.list,
  outbox: ({ outbox }) => outbox.list,
  operators: ({ operators }) => operators.list,
  audit: ({ audit }) => audit.list,
  silences: ({ silences }) => silences.list,
  blacklist: ({ keys }) => keys.list,
}

/** The columns that a filter fixes, by the names of an order's columns. */
type Fixed = Readonly<Record<string, SortValue | undefined>>

const fixedColumns: { readonly [L in ListName]?: (filter: ListFilters[L]) => Fixed } = {
  incidents: ({ severity, state }) => ({
    state_rank: state && stateRank(state),
    severity_rank: severity && SEVERITY_RANK[severity],
  }),
}

/** The values of the first columns of the order that are the same in all rows of the page. */
const fixedValues = <L extends ListName>({
  filter,
  list,
  sort,
}: PageRequest<L>): ReadonlyArray<SortValue> => {
  const fixed: ((filter: ListFilters[L]) => Fixed) | undefined = fixedColumns[list]
  const values: Array<SortValue> = []
  if (fixed === undefined) return values
  const columns = fixed(filter)
  for (const { name } of orderColumns(list, sort)) {
    const value = columns[name]
    if (value === undefined) break
    values.push(value)
  }
  return values
}

/** The part of the order in which the rows of a page lie. */
const walkOf = <L extends ListName>(request: PageRequest<L>): Walk => {
  const isUpward = (request.direction === "asc") !== request.isBackward
  const { end, start } = pageBounds(request)
  const values = fixedValues(request)
  if (values.length === 0) return { start, end, isUpward }
  // Only a made up cursor leads elsewhere. The filter then keeps rows out.
  const range = { values, isInclusive: true }
  return { start: start ?? range, end: range, isUpward }
}

/**
 * Reads one page of a list. It looks at the rows of the page, and at those between them that do not
 * pass the filter.
 */
export const readRows = <L extends ListName>(
  tables: MemoryTables,
  request: PageRequest<L>,
): ReadonlyArray<ListRows[L]> => {
  const { filter, limit, sort } = request
  const list: AnyTable<L> = lists[request.list](tables, filter)
  const passes: (tables: MemoryTables, filter: ListFilters[L], row: ListRows[L]) => boolean =
    listFilters[request.list]
  return list.read(sort, { ...walkOf(request), limit, passes: (row) => passes(tables, filter, row) })
}
