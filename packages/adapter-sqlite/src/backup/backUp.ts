import { chmodSync, existsSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import process from "node:process"

import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { nodeSqlite } from "../connection/nodeSqlite.ts"
import { FileIdentity } from "../connection/FileIdentity.ts"
import { realFile } from "../connection/realFile.ts"
import { SqliteFailures } from "../connection/SqliteFailures.ts"
import { inspectStorage } from "../inspection/inspectStorage.ts"
import { syncToDisk } from "./syncToDisk.ts"

/** What a backup is made of, and where it goes. */
export interface BackupOptions {
  /** The database file; servers may be at work on it. */
  readonly source: string
  /** What stands there is replaced, once the backup is whole. */
  readonly target: string
  /** Told after each piece. */
  readonly onProgress: (pages: { readonly done: number; readonly total: number }) => void
  /** Runs before the copy is checked, which takes a while and cannot tell how far it is. */
  readonly beforeCheck: Effect.Effect<void>
}

/** A backup that was made. */
export interface BackupReport {
  readonly bytes: number
  /** How many migrations the database went through. */
  readonly schema: number
}

/** 4 MiB: short enough that progress moves, long enough that it costs nothing. */
const PAGES_AT_ONCE = 1_024

const FILE_MODE = 0o777

const SIDE_FILES = ["-wal", "-shm", "-journal"]

/**
 * Copies a database as it is at one moment, while others write to it. The copy is one file without a log, checked by
 * SQLite from end to end, opened as Tocsin opens it, and on the disk; only then does it get its name. Whatever goes wrong
 * leaves what stood there before.
 */
export const backUp = Effect.fn("backUp")(function* (options: BackupOptions) {
  const { source, target } = options
  const { applied } = yield* inspectStorage(source)
  if (applied === undefined) {
    return yield* new StorageError({
      reason: "unavailable",
      message: `there is no database in ${source} to back up: set SERVICE_DATA_DIR to the service's folder`,
    })
  }
  yield* requireUnused(options)
  // Of this process alone: two backups to one name do not meet.
  const unfinished = `${target}.${process.pid}.unfinished`
  return yield* Effect.gen(function* () {
    yield* Effect.scoped(copyPages(options, unfinished))
    yield* options.beforeCheck
    yield* attempt(unfinished, () => checkCopy(unfinished))
    const { applied: schema = 0, bytes } = yield* inspectStorage(unfinished)
    yield* requireUnused(options)
    yield* attempt(target, () => {
      chmodSync(unfinished, statSync(source).mode & FILE_MODE)
      syncToDisk(unfinished)
      renameSync(unfinished, target)
      syncToDisk(dirname(target))
    })
    const report: BackupReport = { bytes, schema }
    return report
  }).pipe(Effect.ensuring(Effect.sync(() => removeDatabase(unfinished))))
})

/** Fails where the target is the database itself, under whatever path, or one that a program has open. */
const requireUnused = Effect.fnUntraced(function* ({ source, target }: BackupOptions) {
  if (new FileIdentity(source).isThatOf(target)) {
    return yield* inUse(`${target} is the database itself: name another file`)
  }
  // SQLite keeps them as long as a program has the file open, and where one ended without closing it.
  const beside = SIDE_FILES.map((suffix) => `${realFile(target)}${suffix}`).find((path) => existsSync(path))
  if (beside === undefined) return
  return yield* inUse(
    `${target} is a database in use (${beside} exists): name another file, or stop the program that uses it`,
  )
})

const inUse = (message: string): StorageError => new StorageError({ reason: "in_use", message })

/** Removes a database file with all that SQLite keeps beside it. */
export const removeDatabase = (file: string): void => {
  for (const suffix of ["", ...SIDE_FILES]) rmSync(`${file}${suffix}`, { force: true })
}

const attempt = <A>(file: string, use: () => A): Effect.Effect<A, StorageError> => {
  const failures = new SqliteFailures(file)
  return Effect.suspend(() => {
    try {
      return Effect.succeed(use())
    } catch (cause) {
      return failures.toEffect(cause)
    }
  })
}

const copyPages = Effect.fnUntraced(function* ({ source, onProgress }: BackupOptions, unfinished: string) {
  const database = yield* Effect.acquireRelease(
    attempt(source, () => new (nodeSqlite().DatabaseSync)(source, { readOnly: true })),
    (opened) => Effect.sync(() => opened.close()),
  )
  // What is read first fixes the moment: without it each commit of another process would start the copy anew.
  yield* attempt(source, () => {
    database.exec("BEGIN")
    database.prepare("SELECT 1 FROM sqlite_schema").get()
  })
  const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
    onProgress({ done: totalPages - remainingPages, total: totalPages })
  yield* Effect.tryPromise({
    try: () => nodeSqlite().backup(database, unfinished, { rate: PAGES_AT_ONCE, progress }),
    catch: (cause) => cause,
  }).pipe(Effect.catch((cause) => new SqliteFailures(unfinished).toEffect(cause)))
})

/** Makes one file of the copy, and lets SQLite look at every page and index of it. */
const checkCopy = (file: string): void => {
  const database = new (nodeSqlite().DatabaseSync)(file)
  try {
    database.exec("PRAGMA journal_mode = DELETE")
    const found = database.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"]
    if (found === "ok") return
    throw new StorageError({
      reason: "damaged",
      message: `the copy is damaged (${String(found)}): check the disks of the database and of the copy`,
    })
  } finally {
    database.close()
  }
}
