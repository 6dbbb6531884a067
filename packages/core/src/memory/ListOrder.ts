import type { Position, SortColumn } from "../engine/lists/ListDefinitions.ts"
import { SortedChunks } from "../engine/SortedChunks.ts"
import { comparePlaces, type Place, placeAt, placeOf } from "./Place.ts"

/** What an order knows of its table. */
export interface OrderedTable<Id, Row> {
  readonly columns: ReadonlyArray<SortColumn<Row>>
  readonly idOf: (row: Row) => Id
  /** The row as it is now, if it is in the list. */
  readonly rowOf: (id: Id) => Row | undefined
  /** Visits all rows of the list, in no order. */
  readonly each: (visit: (row: Row) => void) => void
}

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

/** Fewer looks than this take no time. */
const FEWEST_LOOKS = 1_000

/** Tells the places below a position from the others, itself among these if that is `isAbove`. */
const belowPosition = ({ values }: Position, isAbove: boolean): ((place: Place<unknown>) => boolean) => {
  const position = placeAt(values)
  return (place) => {
    const order = comparePlaces(place, position)
    return order < 0 || (order === 0 && !isAbove)
  }
}

const ALL = () => true
const NONE = () => false

/** Where a walk starts: upward with what is not below, downward with what is. */
const isBelowStart = ({ isUpward, start }: Walk) =>
  start === undefined ? (isUpward ? NONE : ALL) : belowPosition(start, start.isInclusive === isUpward)

/** Where a walk ends: upward with what is below, downward with what is not. */
const isBelowEnd = ({ end, isUpward }: Walk) =>
  end === undefined ? (isUpward ? ALL : NONE) : belowPosition(end, end.isInclusive !== isUpward)

/**
 * One order of a list, sorted when it is first read. Changes are noted, and sorted in when it is read
 * next: commands pay little, and nothing for a row that does not move.
 */
export class ListOrder<Id, Row> {
  readonly #table: OrderedTable<Id, Row>
  readonly #places: SortedChunks<Place<Id>>
  /** Former and new places of rows that have moved since. */
  #noted: Array<Place<Id>> = []

  constructor(table: OrderedTable<Id, Row>) {
    this.#table = table
    const items: Array<Place<Id>> = []
    table.each((row) => items.push(this.#placeOf(row)))
    this.#places = new SortedChunks({ compare: comparePlaces, items })
  }

  /** Notes that a row was replaced, added or removed. Returns whether the order is still worth keeping. */
  note(before: Row | undefined, after: Row | undefined): boolean {
    if (before !== undefined && after !== undefined && this.#isSamePlace(before, after)) return true
    if (before !== undefined) this.#noted.push(this.#placeOf(before))
    if (after !== undefined) this.#noted.push(this.#placeOf(after))
    return this.#noted.length <= this.#places.size * NOTED_SHARE
  }

  /** The first rows that pass. */
  read(reading: Reading<Row>): ReadonlyArray<Row> {
    this.#settle()
    const { isUpward, limit, passes } = reading
    const isBelow = isBelowEnd(reading)
    const page: Array<Row> = []
    let looks = Math.max(FEWEST_LOOKS, this.#places.size * LOOKS_SHARE)
    this.#places.walk(isBelowStart(reading), isUpward, (place) => {
      if (isBelow(place) !== isUpward) return false
      const row = this.#table.rowOf(place.id)
      if (row !== undefined && passes(row)) page.push(row)
      looks -= 1
      return page.length < limit && looks > 0
    })
    return looks > 0 || page.length === limit ? page : this.#search(reading)
  }

  /** Finds the same where few rows pass. The end of a walk follows from the filter. */
  #search(reading: Reading<Row>): ReadonlyArray<Row> {
    const { isUpward, limit, passes } = reading
    const isBelow = isBelowStart(reading)
    const found: Array<{ readonly row: Row; readonly place: Place<Id> }> = []
    this.#table.each((row) => {
      if (!passes(row)) return
      const place = this.#placeOf(row)
      if (isBelow(place) !== isUpward) found.push({ row, place })
    })
    found.sort((a, b) => (isUpward ? comparePlaces(a.place, b.place) : comparePlaces(b.place, a.place)))
    return found.slice(0, limit).map(({ row }) => row)
  }

  #settle(): void {
    for (const place of this.#noted) {
      const row = this.#table.rowOf(place.id)
      if (row !== undefined && comparePlaces(this.#placeOf(row), place) === 0) this.#places.add(place)
      else this.#places.delete(place)
    }
    this.#noted = []
  }

  #placeOf(row: Row): Place<Id> {
    return placeOf(this.#table.idOf(row), this.#table.columns, row)
  }

  #isSamePlace(a: Row, b: Row): boolean {
    return this.#table.columns.every((column) => column.of(a) === column.of(b))
  }
}
