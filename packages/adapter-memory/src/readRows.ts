import type { CheckStatus, ListedStatus } from "@tocsin/contract/formats/Status"
import type { IncidentId, AgentId } from "@tocsin/contract/formats/Identifiers"
import { comparing } from "@tocsin/core/kernel/engine/comparing"
import { pageBounds } from "@tocsin/core/lists/pageArms"
import { hasWords, searchedOf } from "@tocsin/core/kernel/engine/lists/searchWords"
import { shownState } from "@tocsin/core/heart/overdue/shownState"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import { isAcknowledged } from "@tocsin/core/heart/model/Acknowledgement"
import type { SortColumn } from "@tocsin/core/kernel/model/ListPlan"
import {
  type ListFilters,
  type ListName,
  type ListRows,
  listTables,
  orderColumns,
  passesOf,
  type PageRequest,
  type Position,
} from "@tocsin/core/lists/ListDefinitions"
import { isHeld } from "@tocsin/core/heart/model/OutboxRecord"
import { type KeyedName, keyText } from "@tocsin/core/lists/StoredTables"
import { labelsOf, type MemoryTables } from "./MemoryTables.ts"

/** The first rows by an order. A short page of a large table needs no sorting of all its rows. */
export const firstInOrder = <Row>(
  rows: Iterable<Row>,
  limit: number,
  compare: (a: Row, b: Row) => number,
): ReadonlyArray<Row> => {
  const found: Array<Row> = []
  for (const row of rows) {
    const last = found.length === limit ? found.at(-1) : undefined
    if (limit === 0 || (last !== undefined && compare(row, last) >= 0)) continue
    if (last !== undefined) found.pop()
    found.splice(placeFor(found, row, compare), 0, row)
  }
  return found
}

/** After all rows that are not behind it. */
const placeFor = <Row>(sorted: ReadonlyArray<Row>, row: Row, compare: (a: Row, b: Row) => number): number => {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    // The search stays between the first and the last index.
    if (compare(sorted[middle] as Row, row) <= 0) from = middle + 1
    else to = middle
  }
  return from
}

const isOfStatus = (wanted: ListedStatus | undefined, status: CheckStatus | null): boolean =>
  wanted === undefined || (wanted === "not_ok" ? status !== "ok" : wanted === status)

type Passes<L extends ListName> = (tables: MemoryTables, filter: ListFilters[L], row: ListRows[L]) => boolean

const wants = <T>(filter: T | undefined, value: T): boolean => filter === undefined || filter === value

/** Rows of earlier registrations leave all lists before retention removes them. */
const isRegistered = (tables: MemoryTables, row: Omit<CheckRef, "check_id">): boolean =>
  tables.agents.get(row.agent_id)?.registration_id === row.registration_id

/** Whether a check is found, by what it reported last; undefined if it never did. */
const isFound = (
  tables: MemoryTables,
  { agent_id, search, state, status }: ListFilters["checks"],
  ref: CheckRef,
  check: CheckRecord | undefined,
  isLate: boolean,
): boolean =>
  wants(state, shownState(check, { isLate })) &&
  wants(agent_id, ref.agent_id) &&
  isRegistered(tables, ref) &&
  isOfStatus(status, check?.status ?? null) &&
  hasWords(search, searchedOf({ ...ref, summary: check?.summary, title: labelsOf(tables, ref)?.["title"] }))

const hadMember = (
  tables: MemoryTables,
  id: IncidentId,
  { agent_id, check_id }: ListFilters["incidents"],
): boolean => {
  if (agent_id === undefined && check_id === undefined) return true
  const members = tables.keyed.incident_member
  if (agent_id !== undefined && check_id !== undefined)
    return members.has(keyText("incident_member", { incident_id: id, agent_id, check_id }))
  return members
    .of("incident_id", id)
    .some((member) => wants(agent_id, member.agent_id) && wants(check_id, member.check_id))
}

/** The filters of lists that depend on more than the row, or on more than its declaration says. */
const listFilters: { readonly [L in ListName]?: Passes<L> } = {
  checks: (tables, filter, row) => isFound(tables, filter, row, row, row.overdue_incident_id !== undefined),
  overdue: (tables, filter, row) => {
    const check = tables.checks.get(row.registration_id)?.get(row.check_id)
    return !(filter.neverReported === true && check) && isFound(tables, filter, row, check, true)
  },
  history: (tables, filter, row) =>
    wants(filter.agent_id, row.agent_id) && wants(filter.check_id, row.check_id) && isRegistered(tables, row),
  incidents: (tables, filter, row) =>
    wants(filter.state, row.state) &&
    wants(filter.severity, row.severity) &&
    wants(filter.acknowledged, isAcknowledged(row, filter.at)) &&
    hadMember(tables, row.id, filter),
  outbox: (_, filter, row) =>
    wants(filter.state, row.state) &&
    wants(filter.notifier, row.notifier) &&
    wants(filter.event_type, row.event_type) &&
    wants(filter.held, isHeld(row)),
  audit: (_, filter, row) =>
    wants(filter.actor, row.actor) &&
    wants(filter.action, row.action) &&
    (filter.subject === undefined || row.subjects.some(({ id }) => id === filter.subject)),
}

/** The present registration of an agent; no row has that of an agent that is gone. */
const registrationOf = ({ agents }: MemoryTables, agentId: AgentId): string =>
  agents.get(agentId)?.registration_id ?? ""

/** The rows among which those of a list are; of the others, all rows of their table. */
const lists: {
  readonly [L in ListName]?: (tables: MemoryTables, filter: ListFilters[L]) => Iterable<ListRows[L]>
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
  audit: ({ audit }) => audit.values(),
  blacklist: ({ keyed }) => Array.from(keyed.agent_key.values()).filter((key) => key.state === "blocked"),
}

const rowsAmong = <L extends ListName>(
  tables: MemoryTables,
  { filter, list }: Pick<PageRequest<L>, "filter" | "list">,
): Iterable<ListRows[L]> => {
  const ofList: (typeof lists)[L] = lists[list]
  if (ofList !== undefined) return ofList(tables, filter)
  // The others are of tables that are requested by key.
  return tables.keyed[listTables[list] as KeyedName].values() as Iterable<ListRows[L]>
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

/** Reads one page of a list: all its rows once, and no order is kept (docs/decisions/README.md, 0033). */
export const readRows = <L extends ListName>(
  tables: MemoryTables,
  request: PageRequest<L>,
): ReadonlyArray<ListRows[L]> => {
  const { direction, filter, isBackward, limit, list, sort } = request
  const columns = orderColumns(list, sort)
  const isUpward = (direction === "asc") !== isBackward
  const { end, start } = pageBounds(request)
  const isBeyond = start === undefined ? () => true : isFrom(columns, start, isUpward)
  const isBefore = end === undefined ? () => true : isFrom(columns, end, !isUpward)
  const passes: Passes<L> | undefined = listFilters[list]
  const passesAlone = passesOf(list)
  const rows: Array<ListRows[L]> = []
  for (const row of rowsAmong(tables, request))
    if (
      isBeyond(row) &&
      isBefore(row) &&
      passes?.(tables, filter, row) !== false &&
      passesAlone?.(filter, row) !== false
    )
      rows.push(row)
  const compare = comparing(...columns.map(({ of }) => of))
  return firstInOrder(rows, limit, isUpward ? compare : (a, b) => compare(b, a))
}
