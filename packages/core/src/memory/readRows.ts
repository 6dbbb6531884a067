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

type Source<L extends ListName> = (tables: MemoryTables, filter: ListFilters[L]) => Iterable<ListRows[L]>

const wants = <T>(filter: T | undefined, value: T): boolean => filter === undefined || filter === value

function* checksOf(tables: MemoryTables, filter: ListFilters["checks"]): Generator<ListRows["checks"]> {
  const agents = filter.agent_id === undefined ? tables.agents.values() : [tables.agents.get(filter.agent_id)]
  for (const agent of agents)
    if (agent !== undefined) yield* tables.checks.get(agent.registration_id)?.values() ?? []
}

function* overdueOf(tables: MemoryTables, filter: ListFilters["overdue"]): Generator<ListRows["overdue"]> {
  for (const agent of tables.agents.values()) {
    if (!wants(filter.agent_id, agent.agent_id)) continue
    for (const row of tables.expectations.get(agent.registration_id)?.values() ?? [])
      if (row.incident_id !== undefined) yield row
  }
}

const hadMember = (tables: MemoryTables, id: IncidentId, filter: ListFilters["incidents"]): boolean =>
  (filter.agent_id === undefined && filter.check_id === undefined) ||
  Array.from(tables.members.get(id)?.values() ?? []).some(
    (member) => wants(filter.agent_id, member.agent_id) && wants(filter.check_id, member.check_id),
  )

/** The rows of each list that pass a filter, in no order. */
const sources: { readonly [L in ListName]: Source<L> } = {
  agents: (tables) => tables.agents.values(),
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
  operators: (tables) => tables.operators.values(),
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

const comparePositions = (a: ReadonlyArray<SortValue>, b: ReadonlyArray<SortValue>): number => {
  for (const [index, value] of a.entries()) {
    const order = compareValues(value, b[index])
    if (order !== 0) return order
  }
  return 0
}

const positionOf = <Row>(columns: ReadonlyArray<SortColumn<Row>>, row: Row): ReadonlyArray<SortValue> =>
  columns.map((column) => column.of(row))

/**
 * Reads one page of a list. It sorts all rows that pass the filter, so it is not for millions of
 * rows.
 */
export const readRows = <L extends ListName>(
  tables: MemoryTables,
  request: PageRequest<L>,
): ReadonlyArray<ListRows[L]> => {
  const source: Source<L> = sources[request.list]
  const columns = orderColumns(request.list, request.sort)
  const sign = (request.direction === "asc") === request.isBackward ? -1 : 1
  const { from } = request
  const isBeyond = (position: ReadonlyArray<SortValue>): boolean => {
    if (from === undefined) return true
    const order = sign * comparePositions(position, from.values)
    return order > 0 || (from.isInclusive && order === 0)
  }
  return Array.from(source(tables, request.filter), (row) => ({ row, position: positionOf(columns, row) }))
    .filter(({ position }) => isBeyond(position))
    .toSorted((a, b) => sign * comparePositions(a.position, b.position))
    .slice(0, request.limit)
    .map(({ row }) => row)
}
