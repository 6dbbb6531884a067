import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite"
import { type CopySource, type CopyTarget, StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Stream, Layer, type Scope } from "effect"
import { nodeSqlite } from "../connection/nodeSqlite.ts"
import { SqliteFailures } from "../connection/SqliteFailures.ts"
import type { AnyShape, CopiedRow } from "@tocsin/core/model/TableShape"
import { existsSync, renameSync } from "node:fs"
import { dirname } from "node:path"
import { removeDatabase, syncToDisk } from "../backup/backUp.ts"
import { inspectFile } from "../connection/inspectFile.ts"
import { RECOUNT_OPEN_INCIDENTS } from "../tables/IncidentTable.ts"
import * as SqliteStorage from "../SqliteStorage.ts"

/** Rows of a piece. Between two pieces the process can report its progress, and be stopped. */
const PIECE = 1_000

/** A connection for copying rows, synchronously, in pieces. */
class CopyConnection {
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

  /** All rows in the order of the key, or those whose numeric key is above `after`. */
  rows(table: AnyShape, after?: bigint): Stream.Stream<ReadonlyArray<CopiedRow>, StorageError> {
    const names = Object.keys(table.columns).join(", ")
    const key = table.key.join(", ")
    const above = after === undefined ? "" : `WHERE ${key} > ${after}`
    const sql = `SELECT ${names} FROM ${table.name} ${above} ORDER BY ${key}`
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
const first = (database: DatabaseSync, sql: string): ReadonlyArray<SQLOutputValue> =>
  (database.prepare(sql).get() ?? []) as unknown as ReadonlyArray<SQLOutputValue>

const fromSqlite = ({ columns }: AnyShape, values: ReadonlyArray<SQLOutputValue>): CopiedRow =>
  Object.values(columns).map(({ type }, index) => {
    const value = values[index] ?? null
    if (value === null || type !== "boolean") return value as string | bigint | null
    return value === 1n
  })

/** A row as parameters for SQLite. */
const toSqlite = (row: CopiedRow): Array<SQLInputValue> =>
  row.map((value) => (typeof value === "boolean" ? Number(value) : value))

/** Opens a snapshot of a database file for `use`. The file's log grows until `use` ends. */
export const withCopySource = <A, E, R>(
  file: string,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* CopyConnection.open(file, { readOnly: true })
      // The first read fixes the moment of the snapshot.
      yield* connection.use((database) => {
        database.exec("BEGIN")
        first(database, "SELECT 1 FROM sqlite_schema")
      })
      return yield* use({
        count: (table) => connection.count(table.name),
        rows: (table, after) => connection.rows(table, after),
        lastSeq: connection.use((database) => {
          const [seq = 0n] = first(database, "SELECT seq FROM sqlite_sequence WHERE name = 'check_event'")
          // The column has integers only, read as bigint.
          return seq as bigint
        }),
      })
    }),
  ) as Effect.Effect<A, E | StorageError, R>

const inUse = (message: string): StorageError => new StorageError({ reason: "in_use", message })

/**
 * Fills a new database file with the rows that `use` writes. The file has another name until it is
 * complete, checked and synced, so that nobody takes an interrupted copy for a whole one. The next
 * run starts over. Fails with `in_use` if the file exists, or another copy into it is running.
 */
export const withCopyTarget = <A, E, R>(
  file: string,
  use: (target: CopyTarget) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, Exclude<R, Scope.Scope>> => {
  const unfinished = `${file}.copying`
  return Effect.gen(function* () {
    yield* requireNothing(file)
    yield* Effect.scoped(removeLeftover(unfinished))
    const result = yield* Effect.scoped(fill(unfinished, use)).pipe(
      Effect.onError(() => Effect.sync(() => removeDatabase(unfinished))),
    )
    yield* requireNothing(file)
    yield* new SqliteFailures(file).attempt(() => {
      syncToDisk(unfinished)
      renameSync(unfinished, file)
      syncToDisk(dirname(file))
    })
    return result
  })
}

const requireNothing = Effect.fnUntraced(function* (file: string) {
  if (existsSync(file)) {
    return yield* inUse(`${file} already exists: move it away, or name another file`)
  }
  yield* new SqliteFailures(file).attempt(() => inspectFile(file))
})

/** Removes the file of an interrupted copy. Fails if that copy is still running. */
const removeLeftover = Effect.fnUntraced(function* (unfinished: string) {
  if (!existsSync(unfinished)) return
  yield* CopyConnection.open(unfinished, { readOnly: false }).pipe(
    Effect.flatMap((connection) => connection.use((database) => database.exec(LOCK))),
    Effect.catch((error) =>
      // Any other error is that of a file whose writer was killed.
      error.reason === "in_use"
        ? inUse(`another copy is being written to ${unfinished}: wait until it finishes, or stop it`)
        : Effect.void,
    ),
  )
  yield* Effect.sync(() => removeDatabase(unfinished))
})

const LOCK = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"

// An unfinished copy is useless after a crash, so it is synced once, at its end.
const FAST = "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"

const fill = Effect.fnUntraced(function* <A, E, R>(
  unfinished: string,
  use: (target: CopyTarget) => Effect.Effect<A, E, R>,
) {
  yield* Effect.scoped(Layer.build(SqliteStorage.layer({ file: unfinished })))
  const connection = yield* CopyConnection.open(unfinished, { readOnly: false })
  yield* connection.use((database) => {
    database.exec(FAST)
    database.exec(LOCK)
    // The first start on a new file may write to these tables.
    database.exec("DELETE FROM established; DELETE FROM service_heartbeat")
  })
  const result = yield* use({
    write: (table, rows) =>
      connection.use((database) => {
        const names = Object.keys(table.columns)
        const places = names.map(() => "?").join(", ")
        const insert = database.prepare(`INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${places})`)
        for (const row of rows) insert.run(...toSqlite(row))
      }),
    rows: (table) => connection.rows(table),
    setLastSeq: (seq) =>
      connection.use((database) => {
        database.exec("DELETE FROM sqlite_sequence WHERE name = 'check_event'")
        database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('check_event', ?)").run(seq)
      }),
  })
  yield* connection.use((database) => {
    database.exec(MARK_REPLACED)
    database.exec(RECOUNT_OPEN_INCIDENTS)
    database.exec("COMMIT")
    const [found] = first(database, "PRAGMA integrity_check(1)")
    if (found === "ok") return
    throw new StorageError({
      reason: "damaged",
      message: `the copy in ${unfinished} is damaged (${String(found)}): check its disk, and copy again`,
    })
  })
  return result
})

/** Derives which history rows retention keeps: the newest of each check. */
const MARK_REPLACED = `UPDATE check_event SET is_kept = 0
  WHERE seq NOT IN (SELECT max(seq) FROM check_event GROUP BY registration_id, check_id)`
