import type { CheckRef } from "@tocsin/core/model/CheckRecord"
import type { ListName, ListRows, SortColumn } from "@tocsin/core/model/ListDefinitions"
import { type ListedTable, OrderedList } from "./OrderedList.ts"

/** Rows by ID, and the orders of the list that shows them: no change passes these by. */
export class ListedRows<L extends ListName, Id, Row> extends Map<Id, Row> {
  readonly list: OrderedList<L, Id, Row>

  constructor(table: Pick<ListedTable<L, Id, Row>, "idOf" | "list" | "listed">) {
    super()
    this.list = new OrderedList({
      ...table,
      rowOf: (id) => this.get(id),
      each: (visit) => this.forEach((row) => visit(row)),
      lastColumns: [],
    })
  }

  override set(id: Id, row: Row): this {
    if (this.list.isRead) this.list.note(this.get(id), row)
    return super.set(id, row)
  }

  override delete(id: Id): boolean {
    if (this.list.isRead) this.list.note(this.get(id), undefined)
    return super.delete(id)
  }

  override clear(): void {
    this.list.forget()
    super.clear()
  }
}

/** The lists of checks, by agent and check ID. */
type ListOfChecks = "checks" | "overdue"

/**
 * Rows of checks by registration, then by check ID, and the orders of the list that shows them. Rows
 * of deleted agents stay in these until retention removes them: a new registration of the agent may
 * have checks of the same IDs.
 */
export class RegistrationRows<L extends ListOfChecks> extends Map<string, ReadonlyMap<string, ListRows[L]>> {
  readonly list: OrderedList<L, CheckRef, ListRows[L]>

  constructor(table: Pick<ListedTable<L, CheckRef, ListRows[L]>, "list" | "listed">) {
    super()
    const registration: SortColumn<CheckRef> = {
      name: "registration_id",
      type: "text",
      of: ({ registration_id }) => registration_id,
    }
    this.list = new OrderedList<L, CheckRef, ListRows[L]>({
      ...table,
      idOf: ({ agent_id, check_id, registration_id }) => ({ agent_id, check_id, registration_id }),
      rowOf: ({ check_id, registration_id }) => this.get(registration_id)?.get(check_id),
      each: (visit) => this.forEach((rows) => rows.forEach((row) => visit(row))),
      lastColumns: [registration],
    })
  }

  /** Inserts or replaces a row. */
  put(row: ListRows[L]): void {
    const { check_id, registration_id } = row
    const rows = this.#rowsOf(registration_id)
    if (this.list.isRead) this.list.note(rows?.get(check_id), row)
    if (rows === undefined) super.set(registration_id, new Map([[check_id, row]]))
    else rows.set(check_id, row)
  }

  /** Removes a row, and with the last one what is kept of its registration. */
  remove({ check_id, registration_id }: CheckRef): void {
    const rows = this.#rowsOf(registration_id)
    if (rows === undefined) return
    if (this.list.isRead) this.list.note(rows.get(check_id), undefined)
    rows.delete(check_id)
    if (rows.size === 0) super.delete(registration_id)
  }

  override set(registration: string, rows: ReadonlyMap<string, ListRows[L]>): this {
    this.list.forget()
    return super.set(registration, new Map(rows))
  }

  override delete(registration: string): boolean {
    this.list.forget()
    return super.delete(registration)
  }

  override clear(): void {
    this.list.forget()
    super.clear()
  }

  #rowsOf(registration: string): Map<string, ListRows[L]> | undefined {
    // `put` and `set` made it; it is read-only for others, whose changes no order would see.
    return this.get(registration) as Map<string, ListRows[L]> | undefined
  }
}
