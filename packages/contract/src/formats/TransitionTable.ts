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

/** The moves of each state, as `"trigger -> to": "condition | effects"`; without effects, `none`. */
type Moves = Readonly<Record<string, Readonly<Record<`${string} -> ${string}`, string>>>>

type Row<Before, Key> = Key extends `${infer Cause} -> ${infer After}`
  ? Transition & { readonly from: Before; readonly trigger: Cause; readonly to: After }
  : never

type RowsOf<Table extends Moves> = {
  [Before in keyof Table]: { [Key in keyof Table[Before]]: Row<Before, Key> }[keyof Table[Before]]
}[keyof Table]

/** A table of moves by their states. Bundlers leave out those that nothing reads. */
/* @__NO_SIDE_EFFECTS__ */
export const stateTable = <const Table extends Moves>(table: Table): ReadonlyArray<RowsOf<Table>> =>
  Object.entries(table).flatMap(([from, moves]) =>
    Object.entries(moves).map(([key, text]) => {
      const [trigger, to] = key.split(" -> ")
      const [condition, effects = "none"] = text.split(" | ")
      // The type reads the same words from the same keys.
      return { from, trigger, condition, to, effects } as RowsOf<Table>
    }),
  )

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
