import type { ListFilters, ListName, ListSort, SortValue } from "./ListDefinitions.ts"

/** Which rows of a list are asked for, in which order. */
export interface ListQuery<L extends ListName> {
  readonly list: L
  readonly filter: ListFilters[L]
  readonly sort: ListSort<L>
  readonly direction: "asc" | "desc"
}

/** A place in the order of a list: between rows, or at one that may be gone. */
export interface Position {
  /** One value for each column of the order. */
  readonly values: ReadonlyArray<SortValue>
  /** Whether a row exactly there belongs to the page. */
  readonly isInclusive: boolean
}

/** One page of a list, as a storage reads it. */
export interface PageRequest<L extends ListName> extends ListQuery<L> {
  /** Where the page starts; absent for the first page. */
  readonly from: Position | undefined
  /** Whether the page lies before `from`, to be read against the order. Its rows come nearest to `from` first. */
  readonly isBackward: boolean
  /** How many rows at most. */
  readonly limit: number
}
