import type { ListName, PageRequest, Position, SortValue } from "../../model/ListDefinitions.ts"

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
