import type { SortColumn, SortValue } from "@tocsin/core/model/ListDefinitions"

/**
 * Where a row stands in an order, by its values in at most four columns. Not an array of them, which
 * takes five times as long to make.
 */
export interface Place<Id> {
  /** Of the row. The row itself would be outdated: rows are replaced more often than they move. */
  readonly id: Id
  readonly first: SortValue | undefined
  readonly second: SortValue | undefined
  readonly third: SortValue | undefined
  readonly fourth: SortValue | undefined
}

/** The place of a row. */
export const placeOf = <Id, Row>(
  id: Id,
  [first, second, third, fourth]: ReadonlyArray<SortColumn<Row>>,
  row: Row,
): Place<Id> => ({
  id,
  first: first?.of(row),
  second: second?.of(row),
  third: third?.of(row),
  fourth: fourth?.of(row),
})

/** The place of these values. Without the last ones, it is the place of all rows with the first ones. */
export const placeAt = ([first, second, third, fourth]: ReadonlyArray<SortValue>): Place<undefined> => ({
  id: undefined,
  first,
  second,
  third,
  fourth,
})

const compareValues = (a: SortValue | undefined, b: SortValue | undefined): number =>
  a === b || a === undefined || b === undefined ? 0 : a < b ? -1 : 1

/** Orders places by their columns. */
export const comparePlaces = (a: Place<unknown>, b: Place<unknown>): number =>
  compareValues(a.first, b.first) ||
  compareValues(a.second, b.second) ||
  compareValues(a.third, b.third) ||
  compareValues(a.fourth, b.fourth)
