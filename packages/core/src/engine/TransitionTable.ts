/** One row of a state-transition table: what may happen, when, and what follows. Code, tests and docs read the same rows. */
export interface Transition {
  /** The state before; `absent` where the subject does not exist yet. */
  readonly from: string
  /** What happens, in the past tense; with `from` it determines `to`. */
  readonly trigger: string
  /** When it applies, in words. */
  readonly condition: string
  /** The state after; `absent` where the subject ceases to exist. */
  readonly to: string
  /** What else changes in the same transaction, in words. */
  readonly effects: string
}

type Rows = ReadonlyArray<Transition>
type From<Table extends Rows> = Table[number]["from"]
type Trigger<Table extends Rows, F extends string> = Extract<Table[number], { readonly from: F }>["trigger"]
type To<Table extends Rows, F extends string, T extends string> = Extract<
  Table[number],
  { readonly from: F; readonly trigger: T }
>["to"]

/**
 * The state that follows `from` on `trigger`, by the table. A pair that the table does not hold does not compile, so
 * no decision can make a move that the documentation does not show.
 */
export const move = <const Table extends Rows, F extends From<Table>, T extends Trigger<Table, F>>(
  table: Table,
  from: F,
  trigger: T,
): To<Table, F, T> => {
  for (const row of table) {
    // The search loses what the type system knows of the pair; the row's `to` is To<Table, F, T> by the table itself.
    if (row.from === from && row.trigger === trigger) return row.to as To<Table, F, T>
  }
  throw new Error(`no transition from ${from} on ${trigger}`)
}
