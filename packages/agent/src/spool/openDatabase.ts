import * as fs from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { isForeign, isGuest } from "./StateFolder.ts"
import { spoolFaultOf } from "./spoolFault.ts"

/** Counts up with each change of the tables. A newer agent's spool is refused, never rewritten. */
const SCHEMA_VERSION = 1

/** The size of a row besides its body: other columns, indexes, and the share of its page. */
const ROW_OVERHEAD = 160

/**
 * `result` holds what the server has not taken yet, `check_state` the last result of each check,
 * `note` counters and what `status` shows. Triggers keep the size, so that no write has to sum it.
 */
const SCHEMA = `
  CREATE TABLE result (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    check_id TEXT NOT NULL,
    observed_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    is_change INTEGER NOT NULL,
    body TEXT NOT NULL,
    size INTEGER AS (length(CAST(body AS BLOB)) + ${ROW_OVERHEAD}) STORED
  ) STRICT;
  CREATE INDEX result_of_check ON result (check_id, seq);
  CREATE INDEX repeated_result ON result (seq) WHERE is_change = 0;
  CREATE TABLE check_state (
    check_id TEXT PRIMARY KEY,
    observed_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    exit_code INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE rejected (
    event_id TEXT PRIMARY KEY,
    check_id TEXT NOT NULL,
    body TEXT NOT NULL,
    reason TEXT NOT NULL,
    rejected_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE extent (one INTEGER PRIMARY KEY CHECK (one = 1), results INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  INSERT INTO extent VALUES (1, 0, 0);
  CREATE TRIGGER result_added AFTER INSERT ON result BEGIN
    UPDATE extent SET results = results + 1, bytes = bytes + NEW.size;
  END;
  CREATE TRIGGER result_removed AFTER DELETE ON result BEGIN
    UPDATE extent SET results = results - 1, bytes = bytes - OLD.size;
  END;
  PRAGMA user_version = ${SCHEMA_VERSION};
`

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
  const isLink = fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  if (isLink && isForeign(path)) throw new Error(`${path} is a link of another user: remove it`)
  if (fs.existsSync(path)) return
  fs.closeSync(fs.openSync(path, "a", FILE_MODE))
  fs.chmodSync(path, FILE_MODE)
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

/** Without the files beside it, opening them would make them, as this user's. */
const openAsGuest = (path: string): DatabaseSync => {
  const url = pathToFileURL(path)
  if (!fs.existsSync(`${path}-shm`)) url.searchParams.set("immutable", "1")
  return new DatabaseSync(url, { readOnly: true, timeout: BUSY_IN_DAEMON_MILLIS })
}

/**
 * Copies what members of the group made before, so that it belongs to the owner of the folder, who could not write
 * it: see {@link isGuest}. The file that they share is made again.
 */
const claim = (path: string): void => {
  const own = process.geteuid?.()
  if (own !== fs.statSync(dirname(path)).uid) return
  for (const suffix of SUFFIXES) {
    const found = fs.lstatSync(path + suffix, { throwIfNoEntry: false })
    if (found === undefined || found.uid === own) continue
    fs.rmSync(`${path}.own`, { force: true })
    if (found.isFile() && suffix !== "-shm") {
      fs.copyFileSync(path + suffix, `${path}.own`, fs.constants.COPYFILE_EXCL)
      fs.chmodSync(`${path}.own`, FILE_MODE)
      fs.renameSync(`${path}.own`, path + suffix)
    } else if (suffix !== "") fs.rmSync(path + suffix)
  }
}

/** Opens or creates the database of a spool (see `SpoolFile.open`), and says why it can only be read, if so. */
export const openDatabase = (path: string, busyMillis: number) => {
  if (isGuest(path))
    return { database: openAsGuest(path), refusal: new Error(`${path} belongs to another user`) }
  try {
    claim(path)
    createFile(path)
    return { database: connect(path, { busyMillis, mode: SHARED }), refusal: undefined }
  } catch (error) {
    if (spoolFaultOf(error) !== "refused") throw error
    return { database: openToRead(path, error), refusal: error }
  }
}

/** A database, and what SQLite keeps beside it; the file itself last. */
const SUFFIXES = ["-wal", "-shm", ""]

/**
 * Renames a damaged spool and returns its new name. A number keeps names of several damaged files of
 * one moment apart.
 */
export const quarantine = (path: string, now: number): string => {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-")
  let aside = `${path}.damaged-${stamp}`
  for (let number = 2; fs.existsSync(aside); number++) aside = `${path}.damaged-${stamp}-${number}`
  for (const suffix of SUFFIXES)
    if (fs.existsSync(path + suffix)) fs.renameSync(path + suffix, aside + suffix)
  return aside
}

/** Rejected results are kept for people to look at; older ones make room. */
export const REJECTED_KEPT = 1_000

/** More checks than an agent has; commands may report under ever new names. */
const STATES_KEPT = 10_000

const STATE = "SELECT observed_ms AS observedAt, status, exit_code AS exitCode"

/** Every statement of the spool, by name. */
export const STATEMENTS = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  state: `${STATE} FROM check_state WHERE check_id = ?`,
  states: `${STATE}, check_id AS checkId FROM check_state`,
  setState: "INSERT OR REPLACE INTO check_state VALUES (?, ?, ?, ?)",
  forgetStates: `DELETE FROM check_state WHERE check_id NOT IN
        (SELECT check_id FROM check_state ORDER BY observed_ms DESC LIMIT ${STATES_KEPT})`,
  lastTwo: `SELECT seq, status, exit_code AS exitCode FROM result
        WHERE check_id = ? ORDER BY seq DESC LIMIT 2`,
  add: `INSERT INTO result (event_id, check_id, observed_ms, status, exit_code, is_change, body)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
  redate: `UPDATE result SET observed_ms = ?, body = json_set(body, '$.observed_at', ?)
        WHERE observed_ms > ?`,
  remove: "DELETE FROM result WHERE seq = ?",
  removeSent: "DELETE FROM result WHERE seq <= ?",
  reject: "INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?, ?)",
  forgetRejected: `DELETE FROM rejected WHERE event_id NOT IN
        (SELECT event_id FROM rejected ORDER BY rejected_ms DESC LIMIT ${REJECTED_KEPT})`,
  oldest: `SELECT seq, event_id AS id, check_id AS checkId, observed_ms AS observedAt, body FROM result
        WHERE seq > ? ORDER BY seq LIMIT ?`,
  hasChange: "SELECT 1 AS found FROM result WHERE is_change = 1 AND seq > ? LIMIT 1",
  last: "SELECT max(seq) AS seq FROM result",
  extent: "SELECT results, bytes FROM extent",
  dropRepeats: `DELETE FROM result WHERE seq IN
        (SELECT seq FROM result WHERE is_change = 0 ORDER BY seq LIMIT ?)`,
  dropOldest: "DELETE FROM result WHERE seq IN (SELECT seq FROM result ORDER BY seq LIMIT ?)",
  dropAged: "DELETE FROM result WHERE seq <= ? AND is_change = ?",
  notes: "SELECT name, value FROM note",
  forgetNote: "DELETE FROM note WHERE name = ?",
  setNote: "INSERT OR REPLACE INTO note VALUES (?, ?)",
  count: `INSERT INTO note VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + CAST(excluded.value AS INTEGER) AS TEXT)`,
  dataVersion: "PRAGMA data_version",
} as const
