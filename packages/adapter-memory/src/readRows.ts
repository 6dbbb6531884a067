import { comparing } from "@tocsin/core/engine/comparing"
import { pageBounds } from "@tocsin/core/engine/lists/arms"
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
import type { MemoryTables } from "./MemoryTables.ts"
import type { AgentId } from "@tocsin/contract/Identifiers"

/** The present registration of an agent; no row has that of an agent that is gone. */
const registrationOf = ({ agents }: MemoryTables, agentId: AgentId): string =>
  agents.get(agentId)?.registration_id ?? ""

/** The rows among which those of a list are. */
const lists: {
  readonly [L in ListName]: (tables: MemoryTables, filter: ListFilters[L]) => Iterable<ListRows[L]>
} = {
  agents: ({ agents }) => agents.values(),
  checks: (tables, { agent_id }) =>
    agent_id === undefined
      ? Array.from(tables.checks.values()).flatMap((ofAgent) => Array.from(ofAgent.values()))
      : (tables.checks.get(registrationOf(tables, agent_id))?.values() ?? []),
  overdue: (tables, { agent_id }) => {
    const { expectation } = tables.keyed
    const rows =
      agent_id === undefined
        ? Array.from(expectation.values())
        : expectation.of("registration_id", registrationOf(tables, agent_id))
    return rows.filter((row) => row.incident_id !== undefined)
  },
  history: ({ history }) => history.values(),
  incidents: ({ incidents }) => incidents.values(),
  outbox: ({ keyed }) => keyed.outbox.values(),
  operators: ({ keyed }) => keyed.operator.values(),
  integrations: ({ keyed }) => keyed.integration.values(),
  enrolments: ({ keyed }) => keyed.enrolment.values(),
  watches: ({ keyed }) => keyed.watch.values(),
  audit: ({ audit }) => audit.values(),
  silences: ({ keyed }) => keyed.silence.values(),
  blacklist: ({ keyed }) => Array.from(keyed.agent_key.values()).filter((key) => key.state === "blocked"),
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
  const compare = comparing(...columns.map(({ of }) => of))
  return firstInOrder(rows, limit, isUpward ? compare : (a, b) => compare(b, a))
}
