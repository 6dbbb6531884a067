import type { SQLInputValue } from "node:sqlite"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"

/** Rows that one statement inserts, which opens the table and its indexes once for all of them. */
const AT_ONCE = 10

interface InsertedTable<Row> {
  readonly table: string
  readonly columns: ReadonlyArray<string>
  /** A row's values in the order of the columns, added to those of the rows before it. */
  readonly addValues: (row: Row, values: Array<SQLInputValue>) => void
}

/** Inserts rows whose keys are new into one table, in their order. */
export class RowInserter<Row> {
  readonly #addValues: InsertedTable<Row>["addValues"]
  readonly #insertOne: Query<never>
  readonly #insertSome: Query<never>

  constructor(connection: SqliteConnection, { table, columns, addValues }: InsertedTable<Row>) {
    const places = `(${columns.map(() => "?").join(", ")})`
    // OR FAIL: else SQLite copies each page that it touches, to undo the statement alone. Our transactions are undone whole.
    const insert = (rows: number): Query<never> =>
      connection.query(
        `INSERT OR FAIL INTO ${table} (${columns.join(", ")}) VALUES ${Array.from({ length: rows }, () => places).join(", ")}`,
      )
    this.#addValues = addValues
    this.#insertOne = insert(1)
    this.#insertSome = insert(AT_ONCE)
  }

  insert(rows: ReadonlyArray<Row>): void {
    let values: Array<SQLInputValue> = []
    const alone = rows.length - (rows.length % AT_ONCE)
    for (const [index, row] of rows.entries()) {
      this.#addValues(row, values)
      if (index < alone && (index + 1) % AT_ONCE !== 0) continue
      const statement = index < alone ? this.#insertSome : this.#insertOne
      statement.get(...values)
      values = []
    }
  }
}
