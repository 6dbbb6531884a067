import { isAcknowledged } from "@tocsin/core/heart/model/Acknowledgement"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { SortValue } from "@tocsin/core/kernel/model/ListPlan"
import {
  type ListFilters,
  type ListName,
  type ListRows,
  listTables,
  orderColumns,
  type PageRequest,
} from "@tocsin/core/lists/ListDefinitions"
import type { KeyedName } from "@tocsin/core/lists/StoredTables"
import { isHeld } from "@tocsin/core/heart/model/OutboxRecord"
import type { MemoryTables } from "../src/MemoryTables.ts"
import { silenceState } from "@tocsin/core/heart/model/SilenceRecord"

type RowsOf<L extends ListName> = (tables: MemoryTables, filter: ListFilters[L]) => ReadonlyArray<ListRows[L]>

/** Whether a row has each value that a filter names. */
const has = (row: object, filter: object): boolean => {
  const values = new Map<string, unknown>(Object.entries(row))
  const wanted: ReadonlyArray<[string, unknown]> = Object.entries(filter)
  return wanted.every(([name, value]) => value === undefined || values.get(name) === value)
}

const present = <Row extends Pick<CheckRef, "agent_id" | "registration_id">>(
  tables: MemoryTables,
  rows: ReadonlyArray<Row>,
) => rows.filter((row) => tables.agents.get(row.agent_id)?.registration_id === row.registration_id)

const inner = <Row>(groups: ReadonlyMap<string, ReadonlyMap<string, Row>>) =>
  Array.from(groups.values()).flatMap((rows) => Array.from(rows.values()))

/** The rows of each list, by the words of docs/rules.md#lists; of the others, all of their table. */
const rowsOf: { readonly [L in ListName]?: RowsOf<L> } = {
  agents: ({ agents }) => Array.from(agents.values()),
  checks: (tables, filter) => present(tables, inner(tables.checks)).filter((row) => has(row, filter)),
  overdue: (tables, filter) =>
    present(tables, Array.from(tables.keyed.expectation.values())).filter(
      (row) => row.incident_id !== undefined && has(row, filter),
    ),
  history: (tables, filter) =>
    present(tables, Array.from(tables.history.values())).filter((row) => has(row, filter)),
  incidents: ({ incidents, keyed }, { agent_id, at, check_id, ...filter }) =>
    Array.from(incidents.values())
      .filter((row) => has({ ...row, acknowledged: isAcknowledged(row, at) }, filter))
      .filter(
        ({ id }) =>
          (agent_id === undefined && check_id === undefined) ||
          keyed.incident_member.of("incident_id", id).some((member) => has(member, { agent_id, check_id })),
      ),
  outbox: ({ keyed }, filter) =>
    Array.from(keyed.outbox.values()).filter((row) => has({ ...row, held: isHeld(row) }, filter)),
  blacklist: ({ keyed }) => Array.from(keyed.agent_key.values()).filter((key) => key.state === "blocked"),
  audit: ({ audit }, { from, subject, to, ...filter }) =>
    Array.from(audit.values())
      .filter((row) => has(row, filter))
      .filter(({ recorded_at }) => from === undefined || recorded_at >= from)
      .filter(({ recorded_at }) => to === undefined || recorded_at < to)
      .filter(({ subjects }) => subject === undefined || subjects.some(({ id }) => id === subject)),
  silences: ({ keyed }, { at, state }) =>
    Array.from(keyed.silence.values()).filter(
      (row) => at === undefined || state === undefined || silenceState(row, at) === state,
    ),
}

const compare = (a: ReadonlyArray<SortValue>, b: ReadonlyArray<SortValue>): number => {
  const index = a.findIndex((value, column) => value !== b[column])
  const [left, right] = [a[index], b[index]]
  return left === undefined || right === undefined ? 0 : left < right ? -1 : 1
}

/** The place of a row in an order. */
export const placeIn = <L extends ListName>(
  { list, sort }: Pick<PageRequest<L>, "list" | "sort">,
  row: ListRows[L],
): ReadonlyArray<SortValue> => orderColumns(list, sort).map((column) => column.of(row))

/** All rows of a list with this filter, in no order. */
export const allRows = <L extends ListName>(
  tables: MemoryTables,
  { filter, list }: Pick<PageRequest<L>, "list" | "filter">,
): ReadonlyArray<ListRows[L]> => {
  const rows: RowsOf<L> | undefined = rowsOf[list]
  if (rows !== undefined) return rows(tables, filter)
  return Array.from(tables.keyed[listTables[list] as KeyedName].values() as Iterable<ListRows[L]>)
}

/** A page by filtering and sorting all rows. */
export const expectedPage = <L extends ListName>(
  tables: MemoryTables,
  request: PageRequest<L>,
): ReadonlyArray<ListRows[L]> => {
  const { direction, from, isBackward, limit } = request
  const sign = (direction === "asc") === isBackward ? -1 : 1
  return allRows(tables, request)
    .map((row) => ({ row, place: placeIn(request, row) }))
    .filter(({ place }) => {
      const order = from === undefined ? 1 : sign * compare(place, from.values)
      return order > 0 || (order === 0 && from?.isInclusive === true)
    })
    .toSorted((a, b) => sign * compare(a.place, b.place))
    .slice(0, limit)
    .map(({ row }) => row)
}
