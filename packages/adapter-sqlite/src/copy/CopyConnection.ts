import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Stream } from "effect"
import { nodeSqlite } from "../connection/nodeSqlite.ts"
import { SqliteFailures } from "../connection/SqliteFailures.ts"
import type { AnyShape, CopiedRow } from "@tocsin/core/model/TableShape"

/** Rows of a piece. Between two pieces the process can report its progress, and be stopped. */
const PIECE = 1_000

/** A connection for copying rows, synchronously, in pieces. */
export class CopyConnection {
  readonly #database: DatabaseSync
  readonly #failures: SqliteFailures

  private constructor(database: DatabaseSync, failures: SqliteFailures) {
    this.#database = database
    this.#failures = failures
  }

  /** Opens a file until the scope ends. */
  static readonly open = (file: string, options: { readonly readOnly: boolean }) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const failures = new SqliteFailures(file)
        return failures.attempt(() => {
          const { readOnly } = options
          const database = new (nodeSqlite().DatabaseSync)(file, {
            readOnly,
            readBigInts: true,
            returnArrays: true,
            timeout: 1_000,
          })
          return new CopyConnection(database, failures)
        })
      }),
      ({ close }) => Effect.sync(close),
    )

  readonly close = (): void => this.#database.close()

  /** Uses the connection. Exceptions of SQLite become failures of the storage. */
  use<A>(work: (database: DatabaseSync) => A): Effect.Effect<A, StorageError> {
    return this.#failures.attempt(() => work(this.#database))
  }

  count(table: string): Effect.Effect<number, StorageError> {
    return this.use((database) => {
      const [count = 0n] = first(database, `SELECT count(*) FROM ${table}`)
      return Number(count)
    })
  }

  /** All rows in the order of the key. */
  rows(table: AnyShape): Stream.Stream<ReadonlyArray<CopiedRow>, StorageError> {
    const names = Object.keys(table.columns).join(", ")
    const sql = `SELECT ${names} FROM ${table.name} ORDER BY ${table.key.join(", ")}`
    return Stream.unwrap(
      Effect.map(
        // With `returnArrays` rows are arrays, which the declarations leave out.
        this.use(
          (database) => database.prepare(sql).iterate() as unknown as Iterator<ReadonlyArray<SQLOutputValue>>,
        ),
        (rows) =>
          Stream.unfold(rows, (iterator) => Effect.map(this.#piece(table, iterator), nextOf(iterator))),
      ),
    )
  }

  #piece(table: AnyShape, rows: Iterator<ReadonlyArray<SQLOutputValue>>) {
    return this.use(() => {
      const piece: Array<CopiedRow> = []
      while (piece.length < PIECE) {
        const { done, value } = rows.next()
        if (done === true) break
        piece.push(fromSqlite(table, value))
      }
      return piece
    })
  }
}

const nextOf =
  <Rest>(rest: Rest) =>
  (piece: ReadonlyArray<CopiedRow>) =>
    piece.length === 0 ? undefined : ([piece, rest] as const)

/** The first row, as an array. */
export const first = (database: DatabaseSync, sql: string): ReadonlyArray<SQLOutputValue> =>
  (database.prepare(sql).get() ?? []) as unknown as ReadonlyArray<SQLOutputValue>

const fromSqlite = ({ columns }: AnyShape, values: ReadonlyArray<SQLOutputValue>): CopiedRow =>
  Object.values(columns).map(({ type }, index) => {
    const value = values[index] ?? null
    if (value === null || type !== "boolean") return value as string | bigint | null
    return value === 1n
  })

/** A row as parameters for SQLite. */
export const toSqlite = (row: CopiedRow): Array<SQLInputValue> =>
  row.map((value) => (typeof value === "boolean" ? Number(value) : value))
