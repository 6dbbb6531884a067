import {
  type AnyShape,
  type ColumnType,
  decoderOf,
  jsonReaders,
  type TableShape,
} from "@tocsin/core/kernel/model/TableShape"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { quoted } from "../client/upstreamDefects.ts"

type Columns = AnyShape["columns"]

/** A statement that writes rows: its parameters are the {@link columnArrays} of its columns. */
export interface RowStatement {
  readonly name: string
  readonly text: string
  readonly columns: Columns
}

/** A statement that reads rows of a table, with or without other columns. */
export interface Reading<Row> {
  readonly text: string
  readonly decode: (row: SqlConnection.Row) => Row
}

export const rowsOf = <Row>(
  pg: PgClient["Service"],
  { decode, text }: Reading<Row>,
  parameters: ReadonlyArray<unknown>,
): Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError> =>
  Effect.map(pg.query(text, parameters), (rows) => rows.map(decode))

/** The types of columns in migrations. */
export const SQL_TYPES = {
  text: "text",
  uuid: "uuid",
  instant: "int8",
  integer: "int4",
  long: "int8",
  boolean: "boolean",
  object: "json",
  array: "json",
  uuids: "json",
  bytes: "bytea",
} as const satisfies Record<ColumnType, string>

/** The driver reads `int8` as a bigint, and parses JSON. */
const READERS = { long: Number, ...jsonReaders((value) => value) }

/** Reads rows that have at least the columns of a shape. */
export const decoder = <Row>(shape: TableShape<Row>): ((row: SqlConnection.Row) => Row) =>
  decoderOf(shape, READERS, (column) => column)

export const selectList = (columns: Columns, alias: string): string =>
  Object.keys(columns)
    .map((column) => `${alias}.${column}`)
    .join(", ")

/** Placeholders of the {@link columnArrays} of these columns, from the parameter `first` on. */
export const arrayParameters = (columns: Columns, first: number): string =>
  Object.values(columns)
    .map(({ type }, index) => `$${first + index}::${SQL_TYPES[type]}[]`)
    .join(", ")

export const givenRows = (columns: Columns): string =>
  `unnest(${arrayParameters(columns, 1)}) AS given (${Object.keys(columns).join(", ")})`

/** The assignments of an UPDATE that takes these columns from `source`. */
export const assignments = (columns: Columns, source: string): string =>
  Object.keys(columns)
    .map((column) => `${column} = ${source}.${column}`)
    .join(", ")

const microsOf = (moment: string): string => `(extract(epoch FROM ${moment}) * 1000000)::int8`

/** Names a run of the server: a start, a failover or a recovery begins another, and ids may repeat. */
export const SERVER_RUN = `(SELECT concat_ws('/', ${microsOf("pg_postmaster_start_time()")},
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
  ${microsOf("pg_stat_get_bgwriter_stat_reset_time()")}))`

/** Makes a write return its number of rows and enough to find out later whether its transaction committed. */
export const reporting = (write: string, preparation = ""): string =>
  `WITH ${preparation} written AS (${write} RETURNING 1)
   SELECT count(*)::int4 AS written, pg_current_xact_id() AS transaction_id,
          ${SERVER_RUN} AS server_run
   FROM written`

type Column = Columns[string]

const columnsWhere = (columns: Columns, isWanted: (name: string, column: Column) => boolean): Columns =>
  Object.fromEntries(Object.entries(columns).filter(([name, column]) => isWanted(name, column)))

/** The columns that an INSERT names: all but the one that the database numbers. */
const insertedColumns = ({ columns, numbered }: AnyShape): Columns =>
  columnsWhere(columns, (name) => name !== numbered)

/** The columns that an unchanged heartbeat or result may change. */
export const movingColumns = ({ columns }: AnyShape): Columns =>
  columnsWhere(columns, (_, { moves }) => moves === true)

export const deleteBy = (name: string, table: string, columns: Columns): RowStatement => ({
  name,
  columns,
  text: reporting(
    `DELETE FROM ${table} AS stored USING ${givenRows(columns)} WHERE ${isGiven(Object.keys(columns))}`,
  ),
})

const isGiven = (names: ReadonlyArray<string>): string =>
  names.map((name) => `stored.${name} = given.${name}`).join(" AND ")

/** A row that was loaded, and as it is to be. */
export interface Updated<Row> {
  readonly before: Row
  readonly after: Row
}

interface TableOptions<Row> {
  readonly alias: string
  /** The order of the unique index in which two transactions may meet: they then never wait in a circle. */
  readonly insertOrder?: ReadonlyArray<keyof Row & string>
}

export const makeTable = <Row>(shape: TableShape<Row>, options: TableOptions<Row>) => {
  const { name, key, columns }: AnyShape = shape
  const { alias } = options
  const decode = decoder(shape)
  const inserted = insertedColumns(shape)
  const names = Object.keys(inserted).join(", ")
  const order =
    options.insertOrder === undefined || options.insertOrder.length === 0
      ? ""
      : `ORDER BY ${options.insertOrder.join(", ")}`
  const insertion = `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${givenRows(inserted)} ${order}`
  const others = columnsWhere(columns, (column) => !key.includes(column))
  const statement = (verb: string, write: string, written = inserted): RowStatement => ({
    name: `${verb}_${name}`,
    text: reporting(write),
    columns: written,
  })
  const insertOf = ofColumns(inserted, (written) => {
    const some = Object.keys(written).join(", ")
    return statement(
      "insert",
      `INSERT INTO ${name} (${some}) SELECT ${some} FROM ${givenRows(written)} ${order}`,
      written,
    )
  })
  const updateOf = ofColumns(others, (changed) => {
    const written = columnsWhere(columns, (column) => key.includes(column) || column in changed)
    const write = `UPDATE ${name} AS stored SET ${assignments(changed, "given")} FROM ${givenRows(written)} WHERE ${isGiven(key)}`
    return statement("update", write, written)
  })
  const all = selectList(columns, alias)
  return {
    name,
    alias,
    columns: all,
    /** `rest` follows the name of the table and its alias. */
    select: (rest: string): Reading<Row> => ({
      text: `SELECT ${all} FROM ${name} AS ${alias} ${rest}`,
      decode,
    }),
    /** Fails where another transaction has inserted a row of the same key or unique index. */
    insert: statement("insert", insertion),
    /** The same, of the columns that some of these rows have: PostgreSQL parses each value that it is given. */
    insertOf: (rows: ReadonlyArray<Row>): RowStatement =>
      insertOf((column) => key.includes(column) || rows.some((row) => valueOf(row, column) !== undefined)),
    upsert: statement(
      "upsert",
      `${insertion} ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${assignments(others, "EXCLUDED")}`,
    ),
    /** Names the columns in which some row differs. Locks must guard the rows of updates and deletions. */
    updateOf: (changes: ReadonlyArray<Updated<Row>>): RowStatement =>
      updateOf((column) =>
        changes.some(({ after, before }) => valueOf(after, column) !== valueOf(before, column)),
      ),
    delete: deleteBy(
      `delete_${name}`,
      name,
      columnsWhere(columns, (column) => key.includes(column)),
    ),
    decode,
  }
}

const valueOf = (row: unknown, column: string): unknown => (row as Readonly<Record<string, unknown>>)[column]

/** Keeps the statement of each set of columns that was asked for; of the first one if none is wanted. */
const ofColumns = (columns: Columns, make: (some: Columns) => RowStatement) => {
  const names = Object.keys(columns)
  const made = new Map<string, RowStatement>()
  return (isWanted: (column: string) => boolean): RowStatement => {
    const wanted = names.filter(isWanted)
    const some = wanted.length === 0 ? names.slice(0, 1) : wanted
    const text = some.join()
    const known = made.get(text) ?? make(columnsWhere(columns, (column) => some.includes(column)))
    made.set(text, known)
    return known
  }
}

/** The common part of every table; statements of one table alone are in that table's file. */
export type Table<Row> = ReturnType<typeof makeTable<Row>>

/** The element of an array literal for a value of each type. */
const ELEMENTS = {
  text: (value) => quoted(String(value)),
  uuid: String,
  instant: String,
  integer: String,
  long: String,
  boolean: String,
  object: (value) => quoted(JSON.stringify(value)),
  array: (value) => quoted(JSON.stringify(value)),
  // Nothing in a UUID needs an escape. The type of the column says that there are no other values.
  uuids: (value) => `"[${(value as ReadonlyArray<string>).map((id) => `\\"${id}\\"`).join(",")}]"`,
  bytes: (value) => quoted(`\\x${String(value)}`),
} satisfies Record<ColumnType, (value: unknown) => string>

/**
 * Rows as one array literal a column, for `unnest`; absent values are NULL. This takes half the
 * bytes of JSON and less parsing. The driver's own encoding of arrays is several times as slow.
 */
export const columnArrays = (columns: Columns, rows: ReadonlyArray<object>): Array<string> =>
  Object.entries(columns).map(([column, { type }]) => {
    const toElement: (value: unknown) => string = ELEMENTS[type]
    let literal = ""
    // Rows of one batch share instants, agents and registrations.
    let last: unknown
    let element = ",NULL"
    for (const row of rows as ReadonlyArray<Readonly<Record<string, unknown>>>) {
      const value = row[column]
      if (value !== last) {
        last = value
        element = value === undefined ? ",NULL" : `,${toElement(value)}`
      }
      literal += element
    }
    return `{${literal.slice(1)}}`
  })
