/** Where the rows of a list come from, once its filter is known. */
export interface ListSource {
  /** The SELECT list, of the table alias `alias`. */
  readonly columns: string
  readonly table: string
  readonly alias: string
  /** What `alias` is found in, where it is more than the table. */
  readonly from?: string
  readonly conditions: ReadonlyArray<string>
  /** Columns that a condition fixes to one value: an order goes on without them. */
  readonly fixed?: ReadonlySet<string>
  /**
   * A column that the filter fixes and that the serving index begins with. A page beyond a position compares it as part of that
   * position, and bounds it on the other side only: by an equality PostgreSQL would enter the index, and walk from there.
   */
  readonly first?: { readonly name: string; readonly value: string }
  /** What stands for a column of the order in its index, where that is not its name. */
  readonly expressions?: Readonly<Record<string, string>>
  /**
   * Leading columns of the index that serves the order: a set of values for each. The page is read once for every
   * combination of them, each by its place in that index, and the pages are merged; so its cost depends on neither the
   * table's size nor the page's depth, whichever of these columns a filter fixes, and however rare its value is.
   */
  readonly spread?: ReadonlyArray<SpreadColumn>
}

/** One leading column of an index. */
export interface SpreadColumn {
  readonly name: string
  /** A set of its values: an expression for FROM that gives one column. May name columns before it, as `of_NAME.NAME`. */
  readonly values: string
}
