import { existsSync, renameSync } from "node:fs"
import { dirname } from "node:path"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Layer, type Scope } from "effect"
import { removeDatabase } from "../backup/backUp.ts"
import { syncToDisk } from "../backup/syncToDisk.ts"
import { inspectFile } from "../connection/inspectFile.ts"
import { SqliteFailures } from "../connection/SqliteFailures.ts"
import { RECOUNT_OPEN_INCIDENTS } from "../tables/IncidentTable.ts"
import * as SqliteStorage from "../SqliteStorage.ts"
import type { CopyTarget } from "@tocsin/core/ports/Copy"
import { CopyConnection, first, toSqlite } from "./CopyConnection.ts"

const inUse = (message: string): StorageError => new StorageError({ reason: "in_use", message })

/**
 * Makes a new database file of what `use` writes. It is written under another name, which it keeps until all is there,
 * checked and on the disk: a run that was broken off leaves nothing behind that could be taken for the whole, and the
 * next one starts anew. Fails with `in_use` where the file exists, or another copy into it is under way.
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
    yield* inFileSystem(file, () => {
      syncToDisk(unfinished)
      renameSync(unfinished, file)
      syncToDisk(dirname(file))
    })
    return result
  })
}

const inFileSystem = <A>(file: string, work: () => A): Effect.Effect<A, StorageError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(work())
    } catch (cause) {
      return new SqliteFailures(file).toEffect(cause)
    }
  })

const requireNothing = Effect.fnUntraced(function* (file: string) {
  if (existsSync(file)) {
    return yield* inUse(`${file} already exists: move it away, or name another file`)
  }
  yield* inFileSystem(file, () => inspectFile(file))
})

/** Removes what a copy that was broken off has left; fails where its process is still at work. */
const removeLeftover = Effect.fnUntraced(function* (unfinished: string) {
  if (!existsSync(unfinished)) return
  yield* CopyConnection.open(unfinished, { readOnly: false }).pipe(
    Effect.flatMap((connection) => connection.use((database) => database.exec(LOCK))),
    Effect.catch((error) =>
      // Anything else is what a file looks like whose writer was killed.
      error.reason === "in_use"
        ? inUse(`another copy is being written to ${unfinished}: wait until it finishes, or stop it`)
        : Effect.void,
    ),
  )
  yield* Effect.sync(() => removeDatabase(unfinished))
})

const LOCK = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"

// Nothing of an unfinished copy is of use after a crash, so it is synced once, at its end.
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
    // What the schema's own creation may have left in tables that are copied.
    database.exec("DELETE FROM established; DELETE FROM mark")
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

/** Which rows of the history retention keeps, for they are the newest of their checks: derived, and not copied. */
const MARK_REPLACED = `UPDATE check_event SET is_kept = 0
  WHERE seq NOT IN (SELECT max(seq) FROM check_event GROUP BY registration_id, check_id)`
