import { OutboxState } from "@tocsin/contract/Status"
import type { Instant } from "@tocsin/contract/Instant"
import type { ListFilters, ListName, PageRequest, Position, SortValue } from "../../model/ListDefinitions.ts"

/** A column that has one value in all rows that are selected. */
export interface Fixed {
  readonly column: string
  readonly value: string | number
}

/** The order of a page, in the direction of reading. */
export interface Order {
  readonly columns: ReadonlyArray<string>
  readonly isAscending: boolean
}

/** Where reading starts among rows with some fixed columns: compares the other columns of the order. */
export interface Start {
  readonly compared: ReadonlyArray<{ readonly column: string; readonly value: SortValue }>
  readonly isInclusive: boolean
}

/**
 * Where the rows beyond a position start among those with the fixed columns, which are not compared,
 * so that an index finds the place. It compares nothing if all of them are beyond the position, and is
 * `undefined` if none is.
 */
export const startBeyond = (
  position: Position | undefined,
  fixed: ReadonlyArray<Fixed>,
  { columns, isAscending }: Order,
): Start | undefined => {
  if (position === undefined) return { compared: [], isInclusive: true }
  const compared: Array<Start["compared"][number]> = []
  let { isInclusive } = position
  for (const [index, column] of columns.entries()) {
    const value = position.values[index]
    const one = fixed.find((candidate) => candidate.column === column)
    if (value === undefined) throw new Error(`a position has no value for ${column}`)
    if (one === undefined) compared.push({ column, value })
    else if (one.value !== value) {
      // Rows equal up to here all lie on one side, whatever the later columns.
      isInclusive = one.value > value === isAscending
      break
    }
  }
  return compared.length === 0 && !isInclusive ? undefined : { compared, isInclusive }
}

/**
 * The phases of incidents that a filter leaves, each with its `state_rank`. Storages keep the phase in
 * front of each index of incidents, so that no page passes over incidents of another.
 */
export const phasesOf = ({
  acknowledged,
  state,
}: ListFilters["incidents"]): ReadonlyArray<{ readonly phase: number; readonly state_rank: 0 | 1 }> => [
  ...(state === "open" || acknowledged === true ? [] : [{ phase: 0, state_rank: 0 } as const]),
  ...(state === "resolved" || acknowledged === true ? [] : [{ phase: 1, state_rank: 1 } as const]),
  ...(state === "resolved" || acknowledged === false ? [] : [{ phase: 2, state_rank: 1 } as const]),
]

/**
 * The end up to which an acknowledgement has run out, where the filter also finds incidents whose timer has
 * not dealt with it: few, in phase 2.
 */
export const ranOutBy = ({ acknowledged, at, state }: ListFilters["incidents"]): Instant | undefined =>
  acknowledged === false && state !== "resolved" ? at : undefined

/** The phase of an incident that changes too often to be moved: its own row says the rest. */
export const BUSY_PHASE = 3

/** The states that storages index notifications by: `held` is a part of pending. */
export const listedStatesOf = ({ held, state }: ListFilters["outbox"]): ReadonlyArray<string> => {
  const all = [...OutboxState.literals, "held"]
  const ofState =
    state === undefined ? all : all.filter((one) => (one === "held" ? "pending" : one) === state)
  return held === undefined ? ofState : ofState.filter((one) => (one === "held") === held)
}

/** The positions between which the rows of a page lie, in the direction of reading. */
export interface PageBounds {
  readonly start: Position | undefined
  readonly end: Position | undefined
}

/** All rows from this moment on lie beyond it; no ID is empty. */
const atMoment = (moment: SortValue, isInclusive: boolean): Position => ({
  values: [moment, ""],
  isInclusive,
})

const timesOf = (filter: object): { readonly from?: SortValue; readonly to?: SortValue } => filter

/**
 * The bounds of a page: where it starts, or the time in its filter if that is nearer to its rows, and
 * the filter's other time. So a storage enters its index at the first row of the page, whatever the
 * cursor says. A list whose filter has times is ordered by time and ID.
 */
export const pageBounds = <L extends ListName>({
  direction,
  filter,
  from: position,
  isBackward,
}: PageRequest<L>): PageBounds => {
  const { from, to } = timesOf(filter)
  const earliest = from === undefined ? undefined : atMoment(from, true)
  const latest = to === undefined ? undefined : atMoment(to, false)
  const [moment] = position?.values ?? []
  if ((direction === "asc") !== isBackward) {
    const isAfter = moment !== undefined && (from === undefined || moment >= from)
    return { start: isAfter ? position : earliest, end: latest }
  }
  const isBefore = moment !== undefined && (to === undefined || moment < to)
  return { start: isBefore ? position : latest, end: earliest }
}
