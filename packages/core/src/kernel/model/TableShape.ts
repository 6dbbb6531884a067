import type { Duration } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Topics } from "../topics/Topics.ts"
import type { Listing } from "./ListPlan.ts"

/**
 * How a column's values read in records, and what storages keep them as. An `instant` is a bigint
 * of 64 bits; an `integer` is a number of 32 bits, a `long` one of 53. An `object`, an `array` and
 * `uuids`, a list of UUIDs, are kept as JSON; `bytes` are copied as hexadecimal digits.
 */
export type ColumnType =
  | "text"
  | "uuid"
  | "instant"
  | "integer"
  | "long"
  | "boolean"
  | "object"
  | "array"
  | "uuids"
  | "bytes"

/** One column of a table, and the type of its values in records. */
export interface Column<Value = unknown> {
  readonly type: ColumnType
  /** The form of NULL in a record: the value `undefined`, or no such property. */
  readonly whenNull?: "undefined" | "absent"
  /** The value of an `object` whose column holds anything else; `{}` unless given. */
  readonly whenDamaged?: object
  /** Every heartbeat or unchanged result may change it: no index may contain it. */
  readonly moves?: true
  /** For the compiler alone. */
  readonly value?: Value
}

type Columns = Readonly<Record<string, Column>>

/** A table in every storage, without the columns that a storage derives. */
export interface TableShape<Row, L extends Listing = Listing> {
  readonly name: string
  /** The primary key. It makes an order of the rows total. */
  readonly key: ReadonlyArray<keyof Row & string>
  readonly columns: { readonly [Name in keyof Row & string]-?: Column<Row[Name]> }
  /** The column that the storage numbers itself when it inserts a row. */
  readonly numbered?: keyof Row & string
  /** Columns that storages keep for themselves, beside those that the database generates. */
  readonly kept?: ReadonlyArray<string>
  /** How its rows are listed; absent if no list has them. */
  readonly list?: L
}

export type RecordOf<Shape extends { readonly columns: Columns }> = {
  readonly [Name in keyof Shape["columns"]]: Shape["columns"][Name] extends Column<infer Value>
    ? Value
    : never
}

/** The topics that a transaction announces of a table. */
export interface Announcing<Row> {
  /** Those that a change of a row concerns; none unless given. */
  readonly topicsOf?: (before: Row | undefined, after: Row | undefined) => Topics
}

/** How a transaction finds the rows that it has of a table, where the key and the group do not say it. */
export interface Finding<Id, Row> {
  /** Must map different IDs of one part to different strings. */
  readonly keyOf?: (id: Id) => string
  /** Splits the table by a column of its ID, to avoid joining the whole ID at every lookup. */
  readonly partOf?: (id: Id) => string
  /** The groups by which a transaction finds rows; constant for a row. */
  readonly groupsOf?: (row: Row) => ReadonlyArray<string>
}

/**
 * The locks of a transaction on a table: the rows that it asks for; the groups too, so that it waits for
 * transactions that add rows to them; or none, since the lock of an agent or an incident guards its rows, or
 * since no decision depends on the row that it overwrites.
 */
export type Locking = "rows" | "groups" | "guarded"

/**
 * A table whose rows commands request by key or by group. Storages load, lock, write and remove its
 * rows by this declaration alone (docs/decisions/0024).
 */
export type KeyedShape<
  Row,
  Key extends ReadonlyArray<keyof Row & string>,
  Group extends ReadonlyArray<keyof Row & string> = never,
> = TableShape<Row> &
  Announcing<Row> &
  Finding<Pick<Row, Key[number]>, Row> & {
    readonly key: Key
    readonly locks: Locking
    /** The columns that make groups of rows; with none, all rows are the group `all`. */
    readonly group?: Group
    /** Rows are in groups as long as they have no value in this column. */
    readonly groupedWithout?: keyof Row & string
  }

/** How retention removes the rows of a table when a moment that each row names has passed (docs/rules.md#retention). */
export interface Expiry<Name extends string = string> {
  readonly rule: string
  /** The column of that moment. */
  readonly from: Name
  /** How long afterwards: a time of its own, or the setting of retention that gives it. */
  readonly after: "incidents" | "pending" | "audit" | Duration.Duration
  /** For readers of the rules: a row, and when it expires. */
  readonly subject: string
  readonly expires: string
}

/** The declaration of a table keeps the rule's name for the compiler. */
type Expiring<E> = E extends Expiry ? { readonly expiry: E } : unknown

/** The declaration of a table keeps its list for the compiler. */
type Listed<L> = L extends Listing ? { readonly list: L } : unknown

type Ending<End> = End extends string ? { readonly unended: End } : unknown

/** The shape of any table, for code that walks through columns. */
export type AnyShape = Omit<TableShape<never>, "key" | "columns" | "numbered"> & {
  readonly key: ReadonlyArray<string>
  readonly columns: Readonly<Record<string, Column>>
  readonly numbered?: string
  readonly group?: ReadonlyArray<string>
  readonly groupedWithout?: string
  readonly locks?: Locking
  readonly expiry?: Expiry
  readonly unended?: string
}

/** The columns of a table that hold JSON, with the kind of value that each must hold. */
export const jsonColumns = ({ columns }: AnyShape) =>
  Object.entries(columns).flatMap(([name, { type }]) =>
    type === "object" || type === "array" || type === "uuids"
      ? { name, kind: type === "object" ? ("object" as const) : ("array" as const) }
      : [],
  )

/** Damaged values that an inspection names. */
export const MOST_DAMAGED = 10

/** How an inspection names a damaged value: its column and the key of its row. */
export const damagedValue = (table: AnyShape, column: string, key: ReadonlyArray<unknown>): string =>
  `${table.name}.${column} of ${key.join("/")}`

/**
 * How JSON columns are read, from the value that `parse` makes of a stored one. One of another kind
 * reads as an empty object or list, so that a damaged row spoils no list; `tocsin doctor` names it.
 */
export const jsonReaders = (parse: (stored: never) => unknown) => {
  const array = (stored: never): unknown => {
    const value = parse(stored)
    return Array.isArray(value) ? value : []
  }
  const object = (stored: never, whenDamaged: object = {}): unknown => {
    const value = parse(stored)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : whenDamaged
  }
  return { object, array, uuids: array }
}

/** A row of a table, its values in the order of the columns; JSON and UUIDs are their texts, and bytes are digits. */
export type CopiedRow = ReadonlyArray<string | bigint | boolean | null>

/** How a storage's values become those of records; types without a reader are used as they are. */
export type ColumnReaders = {
  readonly [Type in ColumnType]?: (value: never, whenDamaged?: object) => unknown
}

/**
 * Makes the function that turns rows as a storage returns them into records. `placeOf` says where a
 * row has a column. The function is compiled from the shape: a loop over the columns takes ten times
 * as long, which is half of what SQLite takes to read the row.
 */
export const decoderOf = <Row>(
  shape: TableShape<Row>,
  readers: ColumnReaders,
  placeOf: (name: string, index: number) => string | number,
): ((row: object) => Row) => {
  const { columns }: AnyShape = shape
  const fields: Array<string> = []
  const additions: Array<string> = []
  for (const [index, [name, { type, whenNull }]] of Object.entries(columns).entries()) {
    const stored = `row[${JSON.stringify(placeOf(name, index))}]`
    const value =
      readers[type] === undefined ? stored : `readers.${type}(${stored}, columns.${name}.whenDamaged)`
    if (whenNull === "absent") additions.push(`if (${stored} !== null) record.${name} = ${value}`)
    else if (whenNull === "undefined") fields.push(`${name}: ${stored} === null ? undefined : ${value}`)
    else fields.push(`${name}: ${value}`)
  }
  const code = `return (row) => { const record = { ${fields.join(", ")} }; ${additions.join("; ")}; return record }`
  // The columns are those of Row, and a test compares them with the migrated schema.
  return new Function("readers", "columns", code)(readers, columns) as (row: object) => Row
}

/** Makes the function that turns copied rows into records, as {@link decoderOf} does. */
export const copiedDecoder = <Row>(shape: TableShape<Row>): ((row: CopiedRow) => Row) =>
  decoderOf(shape, { integer: Number, long: Number, ...jsonReaders(JSON.parse) }, (_, index) => index)

export const text = <T extends string>(): Column<T> => ({ type: "text" })
export const uuid = <T extends string>(): Column<T> => ({ type: "uuid" })
export const instant: Column<Instant> = { type: "instant" }
export const integer: Column<number> = { type: "integer" }
export const long: Column<number> = { type: "long" }
export const boolean: Column<boolean> = { type: "boolean" }
export const object = <T extends object>(whenDamaged?: T): Column<T> => ({
  type: "object",
  ...(whenDamaged !== undefined && { whenDamaged }),
})
export const array = <T>(): Column<ReadonlyArray<T>> => ({ type: "array" })
export const bytes: Column<Uint8Array> = { type: "bytes" }
export const uuids = <T extends string>(): Column<ReadonlyArray<T>> => ({ type: "uuids" })

/** A column that is `undefined` in records where it is NULL. */
export const orUndefined = <V>(column: Column<V>): Column<V | undefined> => ({
  ...column,
  whenNull: "undefined",
})
/** A column that records lack where it is NULL. */
export const orAbsent = <V>(column: Column<V>): Column<V> => ({ ...column, whenNull: "absent" })
/** A column that every heartbeat or unchanged result may change. */
export const moving = <V>(column: Column<V>): Column<V> => ({ ...column, moves: true })

/** Declares a table whose rows commands request by key or by group: see {@link KeyedShape}. */
export const keyedTable = <
  C extends Columns,
  const Key extends ReadonlyArray<keyof C & string>,
  const Group extends ReadonlyArray<keyof C & string> = never,
  const E extends Expiry<keyof C & string> | undefined = undefined,
  const L extends Listing<keyof C & string, RecordOf<{ readonly columns: C }>> | undefined = undefined,
  const End extends string | undefined = undefined,
>(
  shape: {
    readonly name: string
    readonly key: Key
    readonly locks: Locking
    readonly group?: Group
    readonly groupedWithout?: keyof C & string
    readonly columns: C
    readonly expiry?: E
    readonly list?: L
    /** Rows that have not ended are limited in number: the column of their ends, which is never empty. */
    readonly unended?: End
  } & Announcing<RecordOf<{ readonly columns: C }>> &
    Finding<Pick<RecordOf<{ readonly columns: C }>, Key[number]>, RecordOf<{ readonly columns: C }>>,
) =>
  // The columns are those of the record that is made of them.
  shape as unknown as KeyedShape<RecordOf<{ readonly columns: C }>, Key, Group> &
    Expiring<E> &
    Listed<L> &
    Ending<End>

export const storedTable = <
  C extends Columns,
  const E extends Expiry<keyof C & string> | undefined = undefined,
  const L extends Listing<keyof C & string, RecordOf<{ readonly columns: C }>> | undefined = undefined,
>(
  shape: {
    readonly name: string
    readonly key: ReadonlyArray<keyof C & string>
    readonly columns: C
    readonly expiry?: E
    readonly list?: L
  } & Announcing<RecordOf<{ readonly columns: C }>>,
) =>
  shape as unknown as TableShape<RecordOf<{ readonly columns: C }>> &
    Announcing<RecordOf<{ readonly columns: C }>> &
    Expiring<E> &
    Listed<L>
