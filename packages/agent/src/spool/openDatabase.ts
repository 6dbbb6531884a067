import { chmodSync, closeSync, existsSync, lstatSync, openSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { isForeign } from "./isForeign.ts"
import { spoolFaultOf } from "./spoolFault.ts"
import { SCHEMA, SCHEMA_VERSION } from "./spoolSchema.ts"

/** How long a command waits for another process. */
export const BUSY_MILLIS = 5_000
/** The daemon's event loop stands still while it waits; later, results wait in memory. */
export const BUSY_IN_DAEMON_MILLIS = 100
/** Beside a page cache of this size the agent stays within its memory. */
const CACHE_KIB = 512

/** Members of the agent's group may report from jobs; the key is in another file, which they cannot read. */
const FILE_MODE = 0o660

/** With its mode from the beginning, which SQLite gives to the log beside it. */
const createFile = (path: string): void => {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  if (isLink && isForeign(path)) throw new Error(`${path} is a link of another user: remove it`)
  if (existsSync(path)) return
  closeSync(openSync(path, "a", FILE_MODE))
  chmodSync(path, FILE_MODE)
}

/** Pages of the log before it moves into the database: the default of 4 MB fills a small disk, which then refuses everything. */
const LOG_PAGES = 100
const SHARED = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${LOG_PAGES}`
/** Needs no room beside the file. */
const ALONE = "PRAGMA locking_mode = EXCLUSIVE"

const connect = (
  path: string,
  { busyMillis, mode }: { readonly busyMillis: number; readonly mode: string },
): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: busyMillis })
  try {
    database.exec(`${mode}; PRAGMA cache_size = -${CACHE_KIB}`)
    prepareTables(database, path)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Throws what `refusal` says if the file cannot be read either. */
const openToRead = (path: string, refusal: unknown): DatabaseSync => {
  try {
    return connect(path, { busyMillis: 0, mode: ALONE })
  } catch (error) {
    throw spoolFaultOf(error) === "refused" ? refusal : error
  }
}

const prepareTables = (database: DatabaseSync, path: string): void => {
  const version = () => Number(database.prepare("PRAGMA user_version").get()?.["user_version"])
  if (version() === 0) {
    database.exec("BEGIN IMMEDIATE")
    try {
      // Another process may have made the tables meanwhile.
      if (version() === 0) database.exec(SCHEMA)
      database.exec("COMMIT")
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK")
      throw error
    }
  }
  if (version() > SCHEMA_VERSION) {
    throw new Error(`${path} was written by a newer agent; install that version again, or remove the file`)
  }
}

/** A spool's database, and why it can only be read, if so. */
interface Opened {
  readonly database: DatabaseSync
  readonly refusal: unknown
}

/** Opens or creates the database of a spool: see `SpoolFile.open`. */
export const openDatabase = (path: string, busyMillis: number): Opened => {
  try {
    createFile(path)
    return { database: connect(path, { busyMillis, mode: SHARED }), refusal: undefined }
  } catch (error) {
    if (spoolFaultOf(error) !== "refused") throw error
    return { database: openToRead(path, error), refusal: error }
  }
}
