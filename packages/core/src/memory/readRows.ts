import type { IncidentId } from "../contract/Identifiers.ts"
import {
  type ListFilters,
  type ListName,
  type ListRows,
  orderColumns,
  type PageRequest,
  type SortColumn,
  type SortValue,
} from "../engine/lists/ListDefinitions.ts"
import { isHeld } from "../holds/heldItems.ts"
import { isAcknowledged } from "../acknowledgements/Acknowledgement.ts"
import { silenceState } from "../silences/SilenceRecord.ts"
import type { MemoryTables } from "./MemoryTables.ts"

type Source<L extends ListName> = (tables: MemoryTables, filter: ListFilters[L]) => Array<ListRows[L]>

const wants = <T>(filter: T | undefined, value: T): boolean => filter === undefined || filter === value

const checksOf: Source<"checks"> = (tables, { agent_id }) => {
  const rows: Array<ListRows["checks"]> = []
  const agents = agent_id === undefined ? tables.agents.values() : [tables.agents.get(agent_id)]
  for (const agent of agents)
    if (agent !== undefined)
      for (const row of tables.checks.get(agent.registration_id)?.values() ?? []) rows.push(row)
  return rows
}

const overdueOf: Source<"overdue"> = (tables, filter) =>
  Array.from(tables.agents.values())
    .filter(({ agent_id }) => wants(filter.agent_id, agent_id))
    .flatMap(({ registration_id }) => Array.from(tables.expectations.get(registration_id)?.values() ?? []))
    .filter(({ incident_id }) => incident_id !== undefined)

const hadMember = (tables: MemoryTables, id: IncidentId, filter: ListFilters["incidents"]): boolean =>
  (filter.agent_id === undefined && filter.check_id === undefined) ||
  Array.from(tables.members.get(id)?.values() ?? []).some(
    (member) => wants(filter.agent_id, member.agent_id) && wants(filter.check_id, member.check_id),
  )

/** The rows of each list that pass a filter, in no order, in a new array. */
const sources: { readonly [L in ListName]: Source<L> } = {
  agents: (tables) => Array.from(tables.agents.values()),
  checks: checksOf,
  overdue: overdueOf,
  history: (tables, filter) =>
    Array.from(tables.history.values()).filter(
      (row) =>
        wants(filter.agent_id, row.agent_id) &&
        wants(filter.check_id, row.check_id) &&
        tables.agents.get(row.agent_id)?.registration_id === row.registration_id,
    ),
  incidents: (tables, filter) =>
    Array.from(tables.incidents.values()).filter(
      (row) =>
        wants(filter.state, row.state) &&
        wants(filter.severity, row.severity) &&
        wants(filter.acknowledged, isAcknowledged(row)) &&
        hadMember(tables, row.id, filter),
    ),
  outbox: (tables, filter) =>
    Array.from(tables.outbox.values()).filter(
      (row) =>
        wants(filter.state, row.state) &&
        wants(filter.notifier, row.notifier) &&
        wants(filter.event_type, row.event_type) &&
        wants(filter.held, isHeld(row)),
    ),
  operators: (tables) => Array.from(tables.operators.values()),
  audit: (tables, filter) =>
    Array.from(tables.audit.values()).filter(
      (row) =>
        wants(filter.actor, row.actor) &&
        wants(filter.action, row.action) &&
        (filter.subject === undefined || row.subjects.some(({ id }) => id === filter.subject)) &&
        (filter.from === undefined || row.recorded_at >= filter.from) &&
        (filter.to === undefined || row.recorded_at < filter.to),
    ),
  silences: (tables, { at, state }) =>
    Array.from(tables.silences.values()).filter(
      (row) => state === undefined || at === undefined || silenceState(row, at) === state,
    ),
  blacklist: (tables) => Array.from(tables.keys.values()).filter((key) => key.state === "blocked"),
}

const compareValues = (a: SortValue | undefined, b: SortValue | undefined): number =>
  a === b || a === undefined || b === undefined ? 0 : a < b ? -1 : 1

const positionOf = <Row>(columns: ReadonlyArray<SortColumn<Row>>, row: Row): ReadonlyArray<SortValue> =>
  columns.map((column) => column.of(row))

/** Where a row stands to a position. Most rows of a large list are only compared, in the first column. */
const compareTo = <Row>(
  columns: ReadonlyArray<SortColumn<Row>>,
  row: Row,
  position: ReadonlyArray<SortValue>,
): number => {
  for (let index = 0; index < columns.length; index += 1) {
    const order = compareValues(columns[index]?.of(row), position[index])
    if (order !== 0) return order
  }
  return 0
}

/** Reads one page of a list. It looks at all rows that pass the filter, so it is not for millions of rows. */
export const readRows = <L extends ListName>(
  tables: MemoryTables,
  request: PageRequest<L>,
): ReadonlyArray<ListRows[L]> => {
  const source: Source<L> = sources[request.list]
  const columns = orderColumns(request.list, request.sort)
  const sign = (request.direction === "asc") === request.isBackward ? -1 : 1
  const { from, limit } = request
  const page: Array<{ readonly row: ListRows[L]; readonly position: ReadonlyArray<SortValue> }> = []
  const isWithin = (row: ListRows[L]): boolean => {
    const last = page[limit - 1]
    if (last !== undefined && sign * compareTo(columns, row, last.position) >= 0) return false
    if (from === undefined) return true
    const order = sign * compareTo(columns, row, from.values)
    return order > 0 || (from.isInclusive && order === 0)
  }
  const rows = source(tables, request.filter)
  // Rows stand roughly in their order: the first ones fill the page, and the others fall behind it.
  if (sign < 0) rows.reverse()
  for (const row of rows) {
    if (!isWithin(row)) continue
    const after = page.findLastIndex(({ position }) => sign * compareTo(columns, row, position) > 0)
    page.splice(after + 1, 0, { row, position: positionOf(columns, row) })
    if (page.length > limit) page.pop()
  }
  return page.map(({ row }) => row)
}
