import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Predicate } from "effect"
import { nodeSqlite } from "../connection/nodeSqlite.ts"
import { FileIdentity, realFile } from "../connection/OpenFiles.ts"
import { inUse, SqliteFailures } from "../connection/SqliteFailures.ts"
import { inspectStorage } from "../inspection/inspectStorage.ts"
import { KEEPS_DELETED, LEAVE_OUT_DELETED } from "../migrations/deletedText.ts"

interface BackupOptions {
  /** The database file, which servers may be using. */
  readonly source: string
  /** A file there is replaced once the backup is complete. */
  readonly target: string
  /** Tables whose rows are left out. */
  readonly without?: ReadonlyArray<AnyShape>
  /** Called after each piece. */
  readonly onProgress: (pages: { readonly done: number; readonly total: number }) => void
  /** Runs before the check of the copy, which takes a while and reports no progress. */
  readonly beforeCheck: Effect.Effect<void>
}

/** 4 MiB: short enough for visible progress, long enough to cost nothing. */
const PAGES_AT_ONCE = 1_024

const FILE_MODE = 0o777

const OWNER_ONLY = 0o600

const SIDE_FILES = ["-wal", "-shm", "-journal"]

/**
 * Copies a database at one moment, while others write to it. The copy gets its name only once
 * SQLite has checked all of it, Tocsin can open it, and it is on the disk: one file without a log.
 * A failure leaves the previous file in place.
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
  // Named by the process, so that two backups to one target do not collide.
  const unfinished = `${target}.${process.pid}.unfinished`
  return yield* Effect.gen(function* () {
    yield* attempt(unfinished, () => {
      removeAbandoned(target)
      // SQLite would let others read the copy.
      closeSync(openSync(unfinished, "wx", OWNER_ONLY))
    })
    yield* Effect.scoped(copyPages(options, unfinished))
    yield* options.beforeCheck
    yield* attempt(unfinished, () => checkCopy(unfinished, options.without))
    const { applied: schema = 0, bytes } = yield* inspectStorage(unfinished)
    yield* requireUnused(options)
    yield* attempt(target, () => {
      chmodSync(unfinished, statSync(source).mode & FILE_MODE)
      syncToDisk(unfinished)
      renameSync(unfinished, target)
      syncToDisk(dirname(target))
    })
    return { bytes, schema }
  }).pipe(Effect.ensuring(Effect.sync(() => removeDatabase(unfinished))))
})

/** Removes the partial copies of killed backups to this target. */
const removeAbandoned = (target: string): void => {
  const folder = dirname(target)
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(target)}.`)) continue
    const [, pid] = /^\.(\d+)\.unfinished$/.exec(name.slice(basename(target).length)) ?? []
    if (pid !== undefined && !isOtherProcess(Number(pid))) removeDatabase(join(folder, name))
  }
}

/** Whether another process with this number is running. Containers give the same numbers again. */
const isOtherProcess = (pid: number): boolean => {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return Predicate.hasProperty(cause, "code") && cause.code === "EPERM"
  }
}

/** Fails if the target is the database itself, by any path, or is open in a program. */
const requireUnused = Effect.fnUntraced(function* ({ source, target }: BackupOptions) {
  if (new FileIdentity(yield* realFile(source)).isThatOf(target)) {
    return yield* inUse(`${target} is the database itself: name another file`)
  }
  // SQLite keeps these while a program has the file open, and after a crash.
  const written = yield* realFile(target)
  const beside = SIDE_FILES.map((suffix) => `${written}${suffix}`).find((path) => existsSync(path))
  if (beside === undefined) return
  return yield* inUse(
    `${target} is a database in use (${beside} exists): name another file, or stop the program that uses it`,
  )
})

/** Removes a database file and the files that SQLite keeps beside it. */
export const removeDatabase = (file: string): void => {
  for (const suffix of ["", ...SIDE_FILES]) rmSync(`${file}${suffix}`, { force: true })
}

const attempt = <A>(file: string, work: () => A) => new SqliteFailures(file).attempt(work)

const copyPages = Effect.fnUntraced(function* ({ source, onProgress }: BackupOptions, unfinished: string) {
  const database = yield* Effect.acquireRelease(
    attempt(source, () => new (nodeSqlite().DatabaseSync)(source, { readOnly: true })),
    (opened) => Effect.sync(() => opened.close()),
  )
  // The first read fixes the moment; otherwise each commit of another process would restart the
  // copy.
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

/** Makes the copy one file, leaves out tables, and lets SQLite check all its pages and indexes. */
const checkCopy = (file: string, without: ReadonlyArray<AnyShape> = []): void => {
  const database = new (nodeSqlite().DatabaseSync)(file)
  try {
    database.exec("PRAGMA journal_mode = DELETE")
    for (const { name } of without) database.exec(`DELETE FROM ${name}`)
    if (database.prepare(KEEPS_DELETED).get()?.["keeps"] === 1) database.exec(LEAVE_OUT_DELETED)
    else if (without.length > 0) database.exec("VACUUM")
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

/** Syncs a file, or the entries of a folder, to the disk. Throws errors of the file system. */
export const syncToDisk = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
