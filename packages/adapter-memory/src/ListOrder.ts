import type { Position, SortColumn } from "@tocsin/core/model/ListDefinitions"
import { SortedChunks } from "./SortedChunks.ts"
import { comparePlaces, type Place, placeAt, placeOf } from "./Place.ts"

/** What an order knows of its table. */
export interface OrderedTable<Id, Row> {
  readonly columns: ReadonlyArray<SortColumn<Row>>
  readonly idOf: (row: Row) => Id
  /** The row as it is now, if it is in the list. */
  readonly rowOf: (id: Id) => Row | undefined
  readonly each: Visits<Row>
}

/** Visits all rows of a list, in no order. */
export type Visits<Row> = (visit: (row: Row) => void) => void

/** The part of an order to walk over, from `start` on. */
export interface Walk {
  readonly start: Position | undefined
  readonly end: Position | undefined
  readonly isUpward: boolean
}

/** The part of an order to read, and which of its rows. */
export interface Reading<Row> extends Walk {
  readonly passes: (row: Row) => boolean
  readonly limit: number
}

/**
 * Looking up rows in their order takes ten times as long as reading a table: after this share of them,
 * few pass.
 */
const LOOKS_SHARE = 1 / 32

/**
 * With more notes than this share of the rows, sorting all of them again takes less. The notes of an
 * order that is no longer read end here too.
 */
const NOTED_SHARE = 1 / 4

/** An unread order ends after so many changes for each of its rows. */
const CHANGES_UNREAD = 16

/** So many rows are sorted in no time. If more pass, the walk soon finds them. */
const FEW = 1_000

/** Fewer looks than this take no time. */
const FEWEST_LOOKS = 1_000

/** Whether a place is below a position. A place at the position itself is not, if `isAbove`. */
const belowPosition = ({ values }: Position, isAbove: boolean): ((place: Place<unknown>) => boolean) => {
  const position = placeAt(values)
  return (place) => {
    const order = comparePlaces(place, position)
    return order < 0 || (order === 0 && !isAbove)
  }
}

const ALL = () => true
const NONE = () => false

/** Splits an order at the start of a walk, which goes upward from the rest, or downward from these. */
const isBelowStart = ({ isUpward, start }: Walk) =>
  start === undefined ? (isUpward ? NONE : ALL) : belowPosition(start, start.isInclusive === isUpward)

/** Splits an order at the end of a walk, which goes upward over these, or downward over the rest. */
const isBelowEnd = ({ end, isUpward }: Walk) =>
  end === undefined ? (isUpward ? ALL : NONE) : belowPosition(end, end.isInclusive !== isUpward)

/**
 * One order of a list, sorted when it is first read. Changes are noted, and sorted in when it is read
 * next: commands pay little, and nothing for a row that does not move.
 */
export class ListOrder<Id, Row> {
  readonly #table: OrderedTable<Id, Row>
  readonly #places: SortedChunks<Place<Id>>
  /** Former and new places of rows that have moved since it was last read. */
  #noted: Array<Place<Id>> = []
  /** How many rows have changed since then. */
  #changes = 0

  constructor(table: OrderedTable<Id, Row>) {
    this.#table = table
    const items: Array<Place<Id>> = []
    table.each((row) => items.push(placeIn(table, row)))
    this.#places = new SortedChunks({ compare: comparePlaces, items })
  }

  /** Notes that a row was replaced, added or removed. Returns whether the order is still worth keeping. */
  note(before: Row | undefined, after: Row | undefined): boolean {
    const { size } = this.#places
    this.#changes += 1
    if (before === undefined || after === undefined || !this.#isSamePlace(before, after)) {
      if (before !== undefined) this.#noted.push(placeIn(this.#table, before))
      if (after !== undefined) this.#noted.push(placeIn(this.#table, after))
    }
    return this.#noted.length <= size * NOTED_SHARE && this.#changes <= size * CHANGES_UNREAD
  }

  /** The first rows that pass. */
  read(reading: Reading<Row>): ReadonlyArray<Row> {
    this.#settle()
    const { isUpward, limit, passes } = reading
    const isBelow = isBelowEnd(reading)
    const page: Array<Row> = []
    let few: ReadonlyArray<Row> | undefined
    let looks = Math.ceil(Math.max(FEWEST_LOOKS, this.#places.size * LOOKS_SHARE))
    this.#places.walk(isBelowStart(reading), isUpward, (place) => {
      if (isBelow(place) !== isUpward) return false
      const row = this.#table.rowOf(place.id)
      if (row !== undefined && passes(row)) page.push(row)
      if (page.length === limit) return false
      looks -= 1
      if (looks === 0) few = firstOf(this.#table, reading, { each: this.#table.each, most: FEW })
      return few === undefined
    })
    return few ?? page
  }

  #settle(): void {
    for (const place of this.#noted) {
      const row = this.#table.rowOf(place.id)
      if (row !== undefined && comparePlaces(placeIn(this.#table, row), place) === 0) this.#places.add(place)
      else this.#places.delete(place)
    }
    this.#noted = []
    this.#changes = 0
  }

  #isSamePlace(a: Row, b: Row): boolean {
    return this.#table.columns.every((column) => column.of(a) === column.of(b))
  }
}

const placeIn = <Id, Row>({ columns, idOf }: OrderedTable<Id, Row>, row: Row): Place<Id> =>
  placeOf(idOf(row), columns, row)

/** Rows to read without an order. */
interface Unordered<Row> {
  readonly each: Visits<Row>
  /** How many may pass. */
  readonly most: number
}

/**
 * Reads the first rows that pass without an order; `undefined` if too many pass. The end of a walk
 * follows from the filter.
 */
export const firstOf = <Id, Row>(
  table: OrderedTable<Id, Row>,
  reading: Reading<Row>,
  { each, most }: Unordered<Row>,
): ReadonlyArray<Row> | undefined => {
  const { isUpward, limit, passes } = reading
  const isBelow = isBelowStart(reading)
  const found: Array<{ readonly row: Row; readonly place: Place<Id> }> = []
  each((row) => {
    if (found.length > most || !passes(row)) return
    const place = placeIn(table, row)
    if (isBelow(place) !== isUpward) found.push({ row, place })
  })
  if (found.length > most) return undefined
  found.sort((a, b) => (isUpward ? comparePlaces(a.place, b.place) : comparePlaces(b.place, a.place)))
  return found.slice(0, limit).map(({ row }) => row)
}
