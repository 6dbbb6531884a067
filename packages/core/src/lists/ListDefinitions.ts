import { Record } from "effect"
import { forNames, type StoredName, storedTables, type Variants } from "./StoredTables.ts"
import {
  type Listing,
  type ListPlan,
  one,
  type SortColumn,
  type SortValue,
} from "../kernel/model/ListPlan.ts"
import type { AnyShape, ColumnType, TableShape } from "../kernel/model/TableShape.ts"

type Shapes = typeof storedTables

type NameOf<Shape> = Shape extends { readonly list?: infer L }
  ? L extends Listing
    ? L["name"]
    : never
  : never

/** The table of each list: the tables that declare one. */
type ListTables = {
  readonly [N in StoredName as string extends NameOf<Shapes[N]> ? never : NameOf<Shapes[N]>]: N
}

export type ListName = keyof ListTables

const listed: ReadonlyArray<AnyShape> = Object.values(storedTables)

// The names of tables are those of the registry.
export const listTables = Object.fromEntries(
  listed.flatMap(({ list, name }) => (list === undefined ? [] : [[list.name, name]])),
) as unknown as ListTables

// An object has its own names.
export const listNames = Object.keys(listTables) as ReadonlyArray<ListName>

type ListingOf<L extends ListName> = NonNullable<Shapes[ListTables[L]]["list"]>

type RowOf<Shape> = Shape extends TableShape<infer Row> ? Row : never

export type ListRows = {
  readonly [L in ListName]: L extends keyof Variants ? Variants[L] : RowOf<Shapes[ListTables[L]]>
}

export const listShape = <L extends ListName>(list: L) =>
  // TypeScript does not relate the declaration to the rows of the list.
  storedTables[listTables[list]] as unknown as TableShape<ListRows[L]>

const listingOf = (list: ListName): Listing => {
  const { list: listing }: AnyShape = storedTables[listTables[list]]
  if (listing === undefined) throw new Error(`no table declares the list ${list}`)
  return listing
}

/** How each list is filtered; absent fields do not filter. */
export type ListFilters = {
  readonly [L in ListName]: ListingOf<L> extends { readonly plan: (filter: infer Filter) => ListPlan }
    ? unknown extends Filter
      ? Record<never, never>
      : Filter
    : Record<never, never>
}

/** A table also has the general type of orders, of any names. */
type Named<All> = { readonly [Name in keyof All as string extends Name ? never : Name]: true }

export type ListSort<L extends ListName> = keyof Named<ListingOf<L>["orders"]> & string

export const sortsOf = <L extends ListName>(list: L) =>
  // An object has its own names.
  Object.keys(listingOf(list).orders) as ReadonlyArray<unknown> as ReadonlyArray<ListSort<L>>

const SORT_TYPES: { readonly [Type in ColumnType]?: SortColumn<never>["type"] } = {
  text: "text",
  long: "number",
  instant: "bigint",
}

const sortColumn = <L extends ListName>(
  list: L,
  column: string | SortColumn<never>,
): SortColumn<ListRows[L]> => {
  // A declaration orders its own rows.
  if (typeof column === "object") return column as unknown as SortColumn<ListRows[L]>
  const { columns }: AnyShape = listShape(list)
  const type = SORT_TYPES[columns[column]?.type ?? "object"]
  if (type === undefined) throw new Error(`list ${list} cannot be ordered by ${column}`)
  // Columns of these types have such values.
  return { name: column, type, of: (row) => row[column as keyof ListRows[L]] as SortValue }
}

type Orders<L extends ListName> = Readonly<Record<string, ReadonlyArray<SortColumn<ListRows[L]>>>>

const orders = forNames<ListName, { readonly [L in ListName]: Orders<L> }>(listNames, (list) =>
  Record.map(listingOf(list).orders, (columns) => columns.map((column) => sortColumn(list, column))),
)

export const orderColumns = <L extends ListName>(
  list: L,
  sort: ListSort<L>,
): ReadonlyArray<SortColumn<ListRows[L]>> => {
  const ofList: Orders<L> = orders[list]
  const columns = ofList[sort]
  if (columns === undefined) throw new Error(`list ${list} has no sort ${sort}`)
  return columns
}

/** Whether a row passes a filter of its list that depends on the row alone. */
export const passesOf = <L extends ListName>(list: L) =>
  // A declaration filters its own rows.
  listingOf(list).passes as unknown as ((filter: ListFilters[L], row: ListRows[L]) => boolean) | undefined

/** How a page is read: as data, of which each database makes its statement. */
export const listPlan = <L extends ListName>({
  filter,
  list,
}: Pick<PageRequest<L>, "filter" | "list">): ListPlan => {
  // A plan takes the filter of its own list.
  const plan = listingOf(list).plan as ((filter: ListFilters[L]) => ListPlan) | undefined
  return plan === undefined ? one({}) : plan(filter)
}

export interface ListQuery<L extends ListName> {
  readonly list: L
  readonly filter: ListFilters[L]
  readonly sort: ListSort<L>
  readonly direction: "asc" | "desc"
}

/** A place in the order of a list: between rows, or at a row that may be gone. */
export interface Position {
  /** One value for each column of the order. */
  readonly values: ReadonlyArray<SortValue>
  /** Whether a row exactly at this place belongs to the page. */
  readonly isInclusive: boolean
}

export interface PageRequest<L extends ListName> extends ListQuery<L> {
  /** Where the page starts; absent for the first page. */
  readonly from: Position | undefined
  /** Whether the page lies before `from`. Its rows then come nearest to `from` first. */
  readonly isBackward: boolean
  readonly limit: number
}
