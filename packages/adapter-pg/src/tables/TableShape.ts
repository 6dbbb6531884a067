import type { PgStatement } from "../client/PgConnection.ts"
import type { Columns, ColumnType } from "./columnArrays.ts"

/** The part of a table that records are kept in; generated columns are not named. */
export interface TableShape<Row> {
  readonly name: string
  /** The primary key. */
  readonly key: ReadonlyArray<keyof Row & string>
  /**
   * In which order rows are inserted: that of the unique index that two transactions may meet in, so that they do not wait
   * for each other; as they are given where it is empty.
   */
  readonly insertOrder: ReadonlyArray<keyof Row & string>
  readonly columns: { readonly [Column in keyof Row]: ColumnType }
}

/** A statement that is given rows: its parameters are the `columnArrays` of these columns. */
export interface RowStatement extends PgStatement {
  readonly columns: Columns
}

/** The columns of a record, for SELECT lists; `alias` is that of the table. */
export const selectList = (columns: Columns, alias: string): string =>
  Object.keys(columns)
    .map((column) => `${alias}.${column}`)
    .join(", ")

/** The rows that a {@link RowStatement} is given. */
export const givenRows = (columns: Columns): string => {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`)
  return `unnest(${arrays.join(", ")}) AS given (${Object.keys(columns).join(", ")})`
}

const microsOf = (moment: string): string => `(extract(epoch FROM ${moment}) * 1000000)::int8`

/**
 * Which run of the server answers, as a text: within one run no id of a transaction is given out twice. A process that
 * starts, a standby that takes over, and a recovery from a crash, which forgets statistics, begin another one.
 */
export const SERVER_RUN = `(SELECT concat_ws('/', ${microsOf("pg_postmaster_start_time()")},
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
  ${microsOf("pg_stat_get_bgwriter_stat_reset_time()")}))`

/**
 * Makes a write tell how many rows it wrote, and in which transaction of which run of the server: what it takes to find
 * out later whether that transaction committed; another run may give the same id to another transaction. `preparation` is
 * CTEs that run with the write.
 */
export const telling = (write: string, preparation = ""): string =>
  `WITH ${preparation} written AS (${write} RETURNING 1)
   SELECT count(*)::int4 AS written, pg_current_xact_id() AS transaction_id,
          ${SERVER_RUN} AS server_run
   FROM written`

const rowStatement = <Row>(verb: string, { columns, name }: TableShape<Row>, text: string): RowStatement => ({
  name: `${verb}_${name}`,
  text: telling(text),
  columns,
})

const assignments = <Row>({ columns, key }: TableShape<Row>, source: string): string => {
  const keyNames: ReadonlyArray<string> = key
  return Object.keys(columns)
    .filter((column) => !keyNames.includes(column))
    .map((column) => `${column} = ${source}.${column}`)
    .join(", ")
}

const isGiven = <Row>({ key }: TableShape<Row>): string =>
  key.map((column) => `stored.${column} = given.${column}`).join(" AND ")

const insertion = <Row>({ name, columns, insertOrder }: TableShape<Row>): string => {
  const names = Object.keys(columns).join(", ")
  const order = insertOrder.length === 0 ? "" : `ORDER BY ${insertOrder.join(", ")}`
  return `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${givenRows(columns)} ${order}`
}

/** Inserts rows that nobody else may have inserted meanwhile: then it fails. */
export const insertStatement = <Row>(shape: TableShape<Row>): RowStatement =>
  rowStatement("insert", shape, insertion(shape))

/** Inserts rows, over any of the same key. */
export const upsertStatement = <Row>(shape: TableShape<Row>): RowStatement =>
  rowStatement(
    "upsert",
    shape,
    `${insertion(shape)} ON CONFLICT (${shape.key.join(", ")}) DO UPDATE SET ${assignments(shape, "EXCLUDED")}`,
  )

/** Replaces all that rows hold beside their keys. */
export const updateStatement = <Row>(shape: TableShape<Row>): RowStatement =>
  rowStatement(
    "update",
    shape,
    `UPDATE ${shape.name} AS stored SET ${assignments(shape, "given")}
     FROM ${givenRows(shape.columns)} WHERE ${isGiven(shape)}`,
  )

/** Deletes rows by their keys. */
export const deleteStatement = <Row>(shape: TableShape<Row>): RowStatement => {
  const columns = Object.fromEntries(shape.key.map((column) => [column, shape.columns[column]]))
  return {
    ...rowStatement(
      "delete",
      shape,
      `DELETE FROM ${shape.name} AS stored USING ${givenRows(columns)} WHERE ${isGiven(shape)}`,
    ),
    columns,
  }
}
