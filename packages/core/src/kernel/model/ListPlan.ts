import type { Instant } from "@tocsin/contract/formats/Instant"
import { spanState } from "./plannedSpan.ts"

/** A value that rows are ordered by. Text is compared bytewise; instants and ranks are numbers. */
export type SortValue = string | number | bigint

/** One column of an order: its name in every storage, its type, and its value in a row. */
export interface SortColumn<Row> {
  readonly name: string
  readonly type: "text" | "number" | "bigint"
  readonly of: (row: Row) => SortValue
}

/** Stands for an absent `resolved_at` or `ends_at`: later than every instant (docs/rules.md#lists). */
export const NEVER = 9_223_372_036_854_775_807n

/** How the rows of a table are listed (docs/rules.md#lists). */
export interface Listing<Name extends string = string, Row = never> {
  readonly name: string
  /**
   * The columns of each order: those of rows, or one that databases generate. All run in one direction, and the last
   * one makes the order total.
   */
  readonly orders: Readonly<Record<string, ReadonlyArray<Name | SortColumn<Row>>>>
  /** How a filter is read, whose absent fields do not filter. Without a plan, the list has all rows and no filter. */
  readonly plan?: (filter: never) => ListPlan
  /** Whether a row passes a filter that depends on that row alone, for storages that read all rows. */
  readonly passes?: (filter: never, row: never) => boolean
}

/** A column that has one value in all rows that are selected. */
export interface Fixed {
  readonly column: string
  readonly value: string | number
}

/** A piece of SQL that both databases understand; `?` stands for each of its values. */
export interface Fragment {
  readonly sql: string
  readonly values: ReadonlyArray<SortValue>
}

/** Leading columns of a list's indexes, with the few values that they can have together. */
type Partition = ReadonlyArray<ReadonlyArray<Fixed>>

/** Rows of a list's table `r` that are read alike. Each database makes its statement of them. */
export interface ListPart {
  /** Columns of `by`, if there is one. */
  readonly fixed: ReadonlyArray<Fixed>
  /** The columns before the order in its index. Each value of an open one is read apart, and merged. */
  readonly partitions?: ReadonlyArray<Partition>
  /** One without values is that of the index. */
  readonly conditions?: ReadonlyArray<Fragment>
  /** The words of a search, which passes through the rows and stops at a full page. */
  readonly searched?: {
    /** `member` makes the value of a member of a stored object, as the database reads it. */
    readonly text: (member: (column: string, name: string) => string) => string
    readonly words: ReadonlyArray<string>
  }
  /** Rows of deleted agents are not listed, though they may not be removed yet. */
  readonly isOfPresentAgents?: true
  /** Whether the last result of each row's check is joined, as `c`. */
  readonly hasReported?: true
  /** Another table whose rows lead to those of the list by `id`. It has the order, unless the part is sorted. */
  readonly by?: "listed_member" | "audit_subject"
  /** No index has these rows in order. They are few, and sorted. */
  readonly isSorted?: true
  /** Finds few rows, before all other conditions. */
  readonly few?: Fragment
  /** An index of the list's table that a database without statistics would not choose. */
  readonly index?: string
}

/** How the pages of a list are read. A page of several parts is merged. */
export interface ListPlan {
  readonly parts: ReadonlyArray<ListPart>
  /** A leading column of the index whose values occur in the table, and are known to no list. */
  readonly occurring?: "notifier"
}

export const one = (part: Partial<ListPart>): ListPlan => ({ parts: [{ fixed: [], ...part }] })

export const constant = (sql: string): Fragment => ({ sql, values: [] })

export const fixed = (column: string, value: string | number | undefined): ReadonlyArray<Fixed> =>
  value === undefined ? [] : [{ column, value }]

export const partition = (column: string, values: ReadonlyArray<string | number>): Partition =>
  values.map((value) => [{ column, value }])

export const isOneOf = (expression: string, values: ReadonlyArray<number>): Fragment => ({
  sql: `${expression} IN (${values.map(() => "?").join(", ")})`,
  values,
})

/** The filter of rows that are planned, by their state at a moment. */
export interface PlannedFilter<State extends string = string> {
  readonly state?: State | undefined
  /** The moment of which `state` speaks. */
  readonly at?: Instant | undefined
}

export interface PlannedRow {
  readonly page?: string
  readonly starts_at: Instant
  readonly ends_at: Instant | undefined
}

/** How rows are listed that are planned. Few have not ended: they are found by their end, and sorted. */
export const planned = <Filter extends PlannedFilter & { readonly page?: string | undefined }>(
  index: string,
  over: string,
  end = "r.ends_at",
) => ({
  plan: ({ at, page, state }: Filter): ListPlan => {
    const ofPage = { fixed: fixed("page", page) }
    if (state === undefined || at === undefined) return one(ofPage)
    if (state === over) return one({ ...ofPage, conditions: [{ sql: "r.ends_at <= ?", values: [at] }] })
    return one({
      ...ofPage,
      few: { sql: `${end} > ?`, values: [at] },
      index,
      conditions: [{ sql: `r.starts_at ${state === "scheduled" ? ">" : "<="} ?`, values: [at] }],
      isSorted: true,
    })
  },
  passes: ({ at, page, state }: Filter, row: PlannedRow): boolean => {
    if (page !== undefined && page !== row.page) return false
    if (at === undefined || state === undefined) return true
    return spanState(row, "begun", over, at) === (state === over || state === "scheduled" ? state : "begun")
  },
})
