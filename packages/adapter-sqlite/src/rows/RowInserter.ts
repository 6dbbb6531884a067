import type { SQLInputValue } from "node:sqlite"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import { isKeyTaken } from "../connection/SqliteFailures.ts"

/** Rows that one statement inserts, which opens the table and its indexes once for all of them. */
const AT_ONCE = 10

interface InsertedTable<Row> {
  readonly table: string
  readonly columns: ReadonlyArray<string>
  /** A row's values in the order of the columns, added to those of the rows before it. */
  readonly addValues: (row: Row, values: Array<SQLInputValue>) => void
  /** Writes a row over the one that is there, should there be one; else that is an error. */
  readonly replace?: (row: Row) => void
}

/** Inserts rows, whose keys are usually new, into one table, in their order. */
export class RowInserter<Row> {
  readonly #addValues: InsertedTable<Row>["addValues"]
  readonly #replace: InsertedTable<Row>["replace"]
  readonly #insertOne: Query<never>
  readonly #insertSome: Query<never>

  constructor(connection: SqliteConnection, { table, columns, addValues, replace }: InsertedTable<Row>) {
    const places = `(${columns.map(() => "?").join(", ")})`
    // OR FAIL: else SQLite copies each page that it touches, to undo the statement alone. Our transactions are undone whole.
    const insert = (rows: number): Query<never> =>
      connection.query(
        `INSERT OR FAIL INTO ${table} (${columns.join(", ")}) VALUES ${Array.from({ length: rows }, () => places).join(", ")}`,
      )
    this.#addValues = addValues
    this.#replace = replace
    this.#insertOne = insert(1)
    this.#insertSome = insert(AT_ONCE)
  }

  insert(rows: ReadonlyArray<Row>): void {
    const alone = rows.length - (rows.length % AT_ONCE)
    for (let from = 0; from < alone; from += AT_ONCE) {
      this.#run(this.#insertSome, rows.slice(from, from + AT_ONCE))
    }
    for (let index = alone; index < rows.length; index++) {
      this.#run(this.#insertOne, rows.slice(index, index + 1))
    }
  }

  #run(statement: Query<never>, rows: ReadonlyArray<Row>): void {
    const values: Array<SQLInputValue> = []
    for (const row of rows) this.#addValues(row, values)
    try {
      statement.get(...values)
    } catch (cause) {
      const replace = this.#replace
      if (replace === undefined || !isKeyTaken(cause)) throw cause
      // Some of them may be there by now: they are written over with what they are.
      for (const row of rows) replace(row)
    }
  }
}
