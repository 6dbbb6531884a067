/** One row of a state-transition table. Code, tests and docs read the same rows. */
export interface Transition {
  /** The state before; `absent` if the subject does not exist yet. */
  readonly from: string
  /** The event, in the past tense; with `from` it determines `to`. */
  readonly trigger: string
  /** When the transition applies. */
  readonly condition: string
  /** The state after; `absent` if the subject ceases to exist. */
  readonly to: string
  /** Other changes in the same transaction. */
  readonly effects: string
}

type Rows = ReadonlyArray<Transition>
/** A state of the table: from an end of it, no trigger compiles. */
type From<Table extends Rows> = Table[number]["from" | "to"]
type Trigger<Table extends Rows, F extends string> = Extract<Table[number], { readonly from: F }>["trigger"]
type To<Table extends Rows, F extends string, T extends string> = Extract<
  Table[number],
  { readonly from: F; readonly trigger: T }
>["to"]

/**
 * The state that follows `from` on `trigger`. A pair that is not in the table does not compile, so
 * no decision can make an undocumented transition.
 */
export const move = <const Table extends Rows, F extends From<Table>, T extends Trigger<Table, F>>(
  table: Table,
  from: F,
  trigger: T,
): To<Table, F, T> => {
  for (const row of table) {
    // The search loses the types of the pair; by the table, the row's `to` is To<Table, F, T>.
    if (row.from === from && row.trigger === trigger) return row.to as To<Table, F, T>
  }
  throw new Error(`no transition from ${from} on ${trigger}`)
}
