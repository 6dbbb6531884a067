import {
  type ListName,
  type ListRows,
  type ListSort,
  orderColumns,
  type SortColumn,
} from "@tocsin/core/model/ListDefinitions"
import { firstOf, ListOrder, type OrderedTable, type Reading, type Visits } from "./ListOrder.ts"

/** A list, and the table of which it shows rows. */
export interface ListedTable<L extends ListName, Id, Row> {
  readonly list: L
  /** The row as the list shows it; absent if it leaves it out. */
  readonly listed: (row: Row) => ListRows[L] | undefined
  readonly idOf: (row: ListRows[L]) => Id
  readonly rowOf: (id: Id) => Row | undefined
  /** Visits all rows of the table. */
  readonly each: (visit: (row: Row) => void) => void
  /** Columns that distinguish rows with the same place in the list. */
  readonly lastColumns: ReadonlyArray<SortColumn<ListRows[L]>>
}

/**
 * The orders of a list that are read. Its table notes each change here (docs/decisions/0031); without
 * an order, that is one comparison.
 */
export class OrderedList<L extends ListName, Id, Row> {
  readonly #table: ListedTable<L, Id, Row>
  readonly #orders = new Map<ListSort<L>, ListOrder<Id, ListRows[L]>>()

  constructor(table: ListedTable<L, Id, Row>) {
    this.#table = table
  }

  /** Whether there is an order to keep. */
  get isRead(): boolean {
    return this.#orders.size > 0
  }

  /** Notes that a row was replaced, added or removed. */
  note(before: Row | undefined, after: Row | undefined): void {
    const [from, to] = [this.#listed(before), this.#listed(after)]
    for (const [sort, order] of this.#orders) if (!order.note(from, to)) this.#orders.delete(sort)
  }

  /** Drops all orders, which are sorted again when they are read. */
  forget(): void {
    if (this.isRead) this.#orders.clear()
  }

  /** The first rows of a part of an order. */
  read(sort: ListSort<L>, reading: Reading<ListRows[L]>): ReadonlyArray<ListRows[L]> {
    let order = this.#orders.get(sort)
    if (order === undefined) this.#orders.set(sort, (order = new ListOrder(this.#ordered(sort))))
    return order.read(reading)
  }

  /** The same, where no other rows of the table can pass. Needs no order. */
  readAmong(
    rows: Iterable<Row>,
    sort: ListSort<L>,
    reading: Reading<ListRows[L]>,
  ): ReadonlyArray<ListRows[L]> {
    const each: Visits<ListRows[L]> = (visit) => {
      for (const row of rows) this.#show(row, visit)
    }
    return firstOf(this.#ordered(sort), reading, { each, most: Infinity }) ?? []
  }

  #ordered(sort: ListSort<L>): OrderedTable<Id, ListRows[L]> {
    const { each, idOf, lastColumns, list, rowOf } = this.#table
    return {
      columns: [...orderColumns(list, sort), ...lastColumns],
      idOf,
      rowOf: (id) => this.#listed(rowOf(id)),
      each: (visit) => each((row) => this.#show(row, visit)),
    }
  }

  #show(row: Row, visit: (row: ListRows[L]) => void): void {
    const shown = this.#listed(row)
    if (shown !== undefined) visit(shown)
  }

  #listed(row: Row | undefined): ListRows[L] | undefined {
    return row === undefined ? undefined : this.#table.listed(row)
  }
}
