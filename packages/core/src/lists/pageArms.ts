import type { SortValue, Fixed, ListPart } from "../kernel/model/ListPlan.ts"
import { type ListName, orderColumns, type PageRequest, type Position } from "./ListDefinitions.ts"

/** The order of a page, in the direction of reading. */
export interface Order {
  readonly columns: ReadonlyArray<string>
  readonly isAscending: boolean
}

/** The order in which a page is read. */
export const pageOrder = <L extends ListName>({
  direction,
  isBackward,
  list,
  sort,
}: PageRequest<L>): Order => ({
  columns: orderColumns(list, sort).map(({ name }) => name),
  isAscending: (direction === "asc") !== isBackward,
})

/** The table whose index has the order of a part: that of the list, or one that leads to it. */
export const ownerOf = ({ by, isSorted }: ListPart): "l" | "r" => (by === undefined || isSorted ? "r" : "l")

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
const startBeyond = (
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

/** One range of an index: the rows with these columns from its start to its end. */
export interface Arm {
  readonly fixed: ReadonlyArray<Fixed>
  readonly start: Start
  /** Where the rows before it end, in the direction of reading. */
  readonly end: Start
}

/**
 * The ranges that a part of a list is read from, one for each combination of its partitions. A partition that begins
 * the order itself needs no ranges. Those in which no row of the page can be are left out.
 */
export const armsOf = (
  { fixed, partitions = [] }: ListPart,
  { end, start }: PageBounds,
  order: Order,
): ReadonlyArray<Arm> => {
  const isOrdered = (fixes: ReadonlyArray<Fixed>) =>
    fixes.every(({ column }) => order.columns.includes(column))
  return partitions
    .filter((choices) => choices.length < 2 || !choices.every(isOrdered))
    .reduce<ReadonlyArray<ReadonlyArray<Fixed>>>(
      (arms, choices) => arms.flatMap((arm) => choices.map((choice) => [...arm, ...choice])),
      [fixed],
    )
    .flatMap((fixes) => {
      const from = startBeyond(start, fixes, order)
      const until = startBeyond(end, fixes, { ...order, isAscending: !order.isAscending })
      return from === undefined || until === undefined ? [] : [{ fixed: fixes, start: from, end: until }]
    })
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
