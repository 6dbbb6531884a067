import { existsSync, renameSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import type { WireEvent } from "@tocsin/reporting/agent/CheckReport"
import { ALONE, BUSY_MILLIS, successorOf } from "./openDatabase.ts"
import { fieldsOf, savedNote } from "./savedNote.ts"
import { isBusy } from "./spoolFault.ts"
import { SpoolFile } from "./SpoolFile.ts"

/** What became of a damaged spool. */
export interface SetAside {
  readonly aside: string
  readonly saved: number
}

/** A database, and what SQLite keeps beside it; the file itself last. */
const SUFFIXES = ["-wal", "-shm", ""]

/**
 * Moves every result that can still be read into a new spool, in the same order and with the same
 * ids, and renames the damaged one. Where the disk refuses the new spool, the damaged one stays. A
 * number keeps names of several damaged files of one moment apart.
 */
export const setAside = (path: string, now: number): SetAside => {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-")
  let aside = `${path}.damaged-${stamp}`
  for (let number = 2; existsSync(aside); number++) aside = `${path}.damaged-${stamp}-${number}`
  const fresh = successorOf(path)
  const saved = fill(fresh, path)
  rename(path, aside)
  rename(fresh, path)
  return { aside, saved }
}

/** Makes a new spool with the events of a damaged one. Returns how many. */
const fill = (fresh: string, damaged: string): number => {
  // What an earlier attempt left.
  remove(fresh)
  let file: SpoolFile | undefined
  try {
    // Before the reading, which takes long: a full disk refuses already this.
    file = SpoolFile.open(fresh)
    const events = readableEvents(damaged)
    file.restore(events)
    file.close()
    return events.length
  } catch (error) {
    file?.close()
    remove(fresh)
    throw error
  }
}

const rename = (from: string, to: string): void => {
  for (const suffix of SUFFIXES) if (existsSync(from + suffix)) renameSync(from + suffix, to + suffix)
}

const remove = (path: string): void => {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true })
}

/** Every event that reads from the first one on, and from the last one back. */
const readableEvents = (path: string): ReadonlyArray<WireEvent> => {
  const found = new Map<unknown, WireEvent>()
  const database = new DatabaseSync(path, { defensive: false, timeout: BUSY_MILLIS })
  // Definitions that are damaged are left out, and hide no others.
  untilDamage(database, () => database.exec(`${ALONE}; PRAGMA writable_schema = ON`))
  for (const direction of ["ASC", "DESC"]) untilDamage(database, () => collect(database, direction, found))
  untilDamage(database, () => database.close())
  return [...found.entries()].sort(([a], [b]) => Number(a) - Number(b)).map(([, event]) => event)
}

/** Damage ends the work. What another process has open can be read later. */
const untilDamage = (database: DatabaseSync, work: () => void): void => {
  try {
    work()
  } catch (error) {
    if (!isBusy(error)) return
    database.close()
    throw error
  }
}

const collect = (database: DatabaseSync, direction: string, found: Map<unknown, WireEvent>): void => {
  const rows = database.prepare(`SELECT * FROM result NOT INDEXED ORDER BY rowid ${direction}`).iterate()
  for (const row of rows) {
    // By place, because a column's name may be damaged.
    const [seq, id, checkId, , , , , body] = Object.values(row)
    if (found.has(seq)) return
    const event = savedNote(String(body))
    if (isEvent(event) && event.event_id === id && event.check_id === checkId) found.set(seq, event)
  }
}

/** Whether it has what the spool needs of an event; the server judges the rest. */
const isEvent = (event: unknown): event is WireEvent => {
  const { check_id: checkId, event_id: id, exit_code: exitCode, observed_at: at, status } = fieldsOf(event)
  const isText = [id, checkId, status].every((text) => typeof text === "string")
  return isText && Number.isInteger(exitCode) && !Number.isNaN(Date.parse(String(at)))
}
