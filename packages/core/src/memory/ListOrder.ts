import type { Position, SortColumn } from "../engine/lists/ListDefinitions.ts"
import { SortedChunks } from "../engine/SortedChunks.ts"
import { comparePlaces, type Place, placeAt, placeOf } from "./Place.ts"

/** What an order knows of its table. */
export interface OrderedTable<Id, Row> {
  readonly columns: ReadonlyArray<SortColumn<Row>>
  readonly idOf: (row: Row) => Id
  /** The row as it is now, if it is in the list. */
  readonly rowOf: (id: Id) => Row | undefined
  readonly rows: () => ReadonlyArray<Row>
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

/** Looking up rows in their order takes some eight times as long as reading a table. */
const LOOKS_SHARE = 8

/** Fewer looks than this take no time. */
const FEWEST_LOOKS = 1_000

/** Tells the places below a position from the others, itself among these if that is `isAbove`. */
const isBelow = ({ values }: Position, isAbove: boolean): ((place: Place<unknown>) => boolean) => {
  const position = placeAt(values)
  return (place) => {
    const order = comparePlaces(place, position)
    return order < 0 || (order === 0 && !isAbove)
  }
}

const ALL = () => true
const NONE = () => false

/** Splits an order where a walk starts, and where it ends. */
const splitsOf = ({ end, isUpward, start }: Walk) => {
  const isBelowStart =
    start === undefined ? (isUpward ? NONE : ALL) : isBelow(start, start.isInclusive === isUpward)
  const isBelowEnd = end === undefined ? (isUpward ? ALL : NONE) : isBelow(end, end.isInclusive !== isUpward)
  return { isBelowStart, isBelowEnd }
}

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
    const items = table.rows().map((row) => this.#placeOf(row))
    this.#places = new SortedChunks({ compare: comparePlaces, items })
  }

  /** Notes that a row was replaced, added or removed. Returns whether the order is still worth keeping. */
  note(before: Row | undefined, after: Row | undefined): boolean {
    if (before !== undefined && after !== undefined && this.#isSamePlace(before, after)) return true
    if (before !== undefined) this.#noted.push(this.#placeOf(before))
    if (after !== undefined) this.#noted.push(this.#placeOf(after))
    // From here on, sorting all rows takes less. And the notes of an order that nobody reads must end.
    return this.#noted.length <= this.#places.size / 2
  }

  /** The first rows that pass. */
  read({ isUpward, limit, passes, ...walk }: Reading<Row>): ReadonlyArray<Row> {
    this.#settle()
    const { rowOf } = this.#table
    const splits = splitsOf({ ...walk, isUpward })
    const page: Array<Row> = []
    let looks = Math.max(FEWEST_LOOKS, this.#places.size / LOOKS_SHARE)
    this.#places.walk(splits.isBelowStart, isUpward, (place) => {
      if (splits.isBelowEnd(place) !== isUpward) return false
      const row = rowOf(place.id)
      if (row !== undefined && passes(row)) page.push(row)
      looks -= 1
      return page.length < limit && looks > 0
    })
    return looks > 0 || page.length === limit ? page : this.#search({ isUpward, limit, passes, ...walk })
  }

  /** Finds the same where few rows pass: the table is read much faster in its own order. */
  #search({ limit, passes, ...walk }: Reading<Row>): ReadonlyArray<Row> {
    const { isUpward } = walk
    const { isBelowEnd, isBelowStart } = splitsOf(walk)
    const found = this.#table
      .rows()
      .filter(passes)
      .map((row) => ({ row, place: this.#placeOf(row) }))
      .filter(({ place }) => isBelowStart(place) !== isUpward && isBelowEnd(place) === isUpward)
      .toSorted((a, b) => (isUpward ? comparePlaces(a.place, b.place) : comparePlaces(b.place, a.place)))
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
