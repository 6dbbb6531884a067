import { pageBounds } from "@tocsin/core/engine/lists/pageBounds"
import {
  type ListFilters,
  type ListName,
  type ListRows,
  orderColumns,
  type PageRequest,
  type Position,
  type SortColumn,
} from "@tocsin/core/model/ListDefinitions"
import { firstInOrder } from "./firstInOrder.ts"
import { listFilters } from "./listFilters.ts"
import type { MemoryTables, RegistrationRows } from "./MemoryTables.ts"
import type { CheckRef } from "@tocsin/core/model/CheckRecord"

const ofAgent = <Row extends CheckRef>(
  rows: RegistrationRows<Row>,
  { agents }: MemoryTables,
  { agent_id }: ListFilters["checks"],
): Iterable<Row> =>
  agent_id === undefined
    ? Array.from(rows.values()).flatMap((ofRegistration) => Array.from(ofRegistration.values()))
    : (rows.get(agents.get(agent_id)?.registration_id ?? "")?.values() ?? [])

/** The rows among which those of a list are. */
const lists: {
  readonly [L in ListName]: (tables: MemoryTables, filter: ListFilters[L]) => Iterable<ListRows[L]>
} = {
  agents: ({ agents }) => agents.values(),
  checks: (tables, filter) => ofAgent(tables.checks, tables, filter),
  overdue: (tables, filter) =>
    Array.from(ofAgent(tables.expectations, tables, filter)).filter((row) => row.incident_id !== undefined),
  history: ({ history }) => history.values(),
  incidents: ({ incidents }) => incidents.values(),
  outbox: ({ outbox }) => outbox.values(),
  operators: ({ operators }) => operators.values(),
  audit: ({ audit }) => audit.values(),
  silences: ({ silences }) => silences.values(),
  blacklist: ({ keys }) => Array.from(keys.values()).filter((key) => key.state === "blocked"),
}

const comparing =
  <Row>(columns: ReadonlyArray<SortColumn<Row>>) =>
  (a: Row, b: Row): number => {
    for (const { of } of columns) {
      const [left, right] = [of(a), of(b)]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }

/** Whether a row lies in the direction of reading from a position. */
const isFrom =
  <Row>(columns: ReadonlyArray<SortColumn<Row>>, { isInclusive, values }: Position, isUpward: boolean) =>
  (row: Row): boolean => {
    for (const [index, value] of values.entries()) {
      const own = columns[index]?.of(row)
      if (own !== undefined && own !== value) return own > value === isUpward
    }
    return isInclusive
  }

/** Reads one page of a list: all its rows once, and no order is kept (docs/decisions/0033). */
export const readRows = <L extends ListName>(
  tables: MemoryTables,
  request: PageRequest<L>,
): ReadonlyArray<ListRows[L]> => {
  const { direction, filter, isBackward, limit, list, sort } = request
  const columns = orderColumns(list, sort)
  const isUpward = (direction === "asc") !== isBackward
  const { start } = pageBounds(request)
  const isBeyond = start === undefined ? () => true : isFrom(columns, start, isUpward)
  const passes: (tables: MemoryTables, filter: ListFilters[L], row: ListRows[L]) => boolean =
    listFilters[list]
  const rows: Array<ListRows[L]> = []
  // A list of this name, whose rows are of its type.
  for (const row of lists[list](tables, filter))
    if (isBeyond(row) && passes(tables, filter, row)) rows.push(row)
  const compare = comparing(columns)
  return firstInOrder(rows, limit, isUpward ? compare : (a, b) => compare(b, a))
}
