import { existsSync, renameSync } from "node:fs"
import { dirname } from "node:path"
import type { SQLOutputValue } from "node:sqlite"
import type { AnyShape, CopiedRow } from "@tocsin/core/kernel/model/TableShape"
import { type CopySource, type CopyTarget, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Layer, type Scope, Stream } from "effect"
import { removeDatabase, syncToDisk } from "../backup/backUp.ts"
import { inspectFile } from "../connection/inspectFile.ts"
import { SqliteConnection } from "../connection/SqliteConnection.ts"
import { inUse, SqliteFailures, whileLocked } from "../connection/SqliteFailures.ts"
import * as SqliteStorage from "../SqliteStorage.ts"
import { RECOUNT_OPEN_INCIDENTS } from "../tables/IncidentTable.ts"

/** Rows of a piece. Between two pieces the process can report its progress, and be stopped. */
const PIECE = 1_000

const LOCK_MILLIS = 1_000

/** Uses a connection. Exceptions of SQLite become failures of the storage. */
type Use = <A>(work: (connection: SqliteConnection) => A) => Effect.Effect<A, StorageError>

const connect = (
  file: string,
  open: (file: string) => SqliteConnection,
): Effect.Effect<Use, StorageError, Scope.Scope> => {
  const failures = new SqliteFailures(file)
  return Effect.acquireRelease(
    whileLocked(() => open(file), { failures, lockMillis: LOCK_MILLIS }),
    (connection) => Effect.sync(() => connection.close()),
  ).pipe(Effect.map((connection) => (work) => failures.attempt(() => work(connection))))
}

/** All rows in the order of the key, or those whose numeric key is above `after`. */
const rowsOf = (
  use: Use,
  table: AnyShape,
  after?: bigint,
): Stream.Stream<ReadonlyArray<CopiedRow>, StorageError> => {
  const key = table.key.join(", ")
  const above = after === undefined ? "" : `WHERE ${key} > ${after}`
  const selected = Object.entries(table.columns).map(([name, { type }]) =>
    type === "bytes" ? `lower(hex(${name}))` : name,
  )
  const sql = `SELECT ${selected.join(", ")} FROM ${table.name} ${above} ORDER BY ${key}`
  return Stream.unwrap(
    Effect.map(
      use((connection) => connection.query<ReadonlyArray<SQLOutputValue>>(sql).iterate()),
      (rows) =>
        Stream.unfold(rows, (rest) =>
          Effect.map(
            use(() => pieceOf(table, rest)),
            (piece) => (piece.length === 0 ? undefined : ([piece, rest] as const)),
          ),
        ),
    ),
  )
}

const pieceOf = (
  table: AnyShape,
  rows: Iterator<ReadonlyArray<SQLOutputValue>>,
): ReadonlyArray<CopiedRow> => {
  const piece: Array<CopiedRow> = []
  while (piece.length < PIECE) {
    const { done, value } = rows.next()
    if (done === true) break
    piece.push(fromSqlite(table, value))
  }
  return piece
}

const fromSqlite = ({ columns }: AnyShape, values: ReadonlyArray<SQLOutputValue>): CopiedRow =>
  Object.values(columns).map(({ type }, index) => {
    const value = values[index] ?? null
    if (value === null || type !== "boolean") return value as string | bigint | null
    return value === 1n
  })

/** Opens a snapshot of a database file for `use`. The file's log grows until `use` ends. */
export const withCopySource = <A, E, R>(
  file: string,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const read = yield* connect(file, SqliteConnection.openReadOnly)
      // The first read fixes the moment of the snapshot.
      yield* read((connection) => {
        connection.execute("BEGIN")
        connection.query("SELECT 1 FROM sqlite_schema").get()
      })
      return yield* use({
        count: ({ name }) =>
          read((connection) =>
            Number(connection.query<[bigint]>(`SELECT count(*) FROM ${name}`).get()?.[0] ?? 0n),
          ),
        rows: (table, after) => rowsOf(read, table, after),
        lastSeq: read(
          (connection) =>
            connection
              .query<[bigint]>("SELECT seq FROM sqlite_sequence WHERE name = 'check_event'")
              .get()?.[0] ?? 0n,
        ),
      })
    }),
  ) as Effect.Effect<A, E | StorageError, R>

/**
 * Fills a new database file with the rows that `use` writes. The file has another name until it is
 * complete, checked and synced, so that an interrupted copy is not taken for a whole one. The next
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
  yield* connect(unfinished, SqliteConnection.open).pipe(
    Effect.flatMap((write) => write((connection) => connection.execute(LOCK))),
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
  const write = yield* connect(unfinished, SqliteConnection.open)
  // The first start on a new file may write to these tables.
  yield* write((connection) =>
    connection.execute(`${FAST}; ${LOCK}; DELETE FROM established; DELETE FROM service_heartbeat`),
  )
  const result = yield* use({
    write: (table, rows) =>
      write((connection) => {
        const names = Object.keys(table.columns)
        const places = Object.values(table.columns)
          .map(({ type }) => (type === "bytes" ? "unhex(?)" : "?"))
          .join(", ")
        const insert = connection.query(`INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${places})`)
        for (const row of rows)
          insert.run(...row.map((value) => (typeof value === "boolean" ? Number(value) : value)))
      }),
    rows: (table) => rowsOf(write, table),
    setLastSeq: (seq) =>
      write((connection) => {
        connection.execute("DELETE FROM sqlite_sequence WHERE name = 'check_event'")
        connection.query("INSERT INTO sqlite_sequence (name, seq) VALUES ('check_event', ?)").run(seq)
      }),
  })
  yield* write((connection) => {
    connection.execute(`${RECOUNT_OPEN_INCIDENTS}; COMMIT`)
    const [found] = connection.query<[string]>("PRAGMA integrity_check(1)").get() ?? []
    if (found === "ok") return
    throw new StorageError({
      reason: "damaged",
      message: `the copy in ${unfinished} is damaged (${String(found)}): check its disk, and copy again`,
    })
  })
  return result
})
