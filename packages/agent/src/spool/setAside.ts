import { existsSync, renameSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import type { WireEvent } from "@tocsin/client/agent/CheckReport"
import { savedNote } from "./savedNote.ts"
import { SpoolFile } from "./SpoolFile.ts"

/** What became of a damaged spool. */
export interface SetAside {
  readonly aside: string
  readonly saved: number
}

/**
 * Renames a damaged spool and moves every result that can still be read into a new one, in the same
 * order and with the same ids. A number keeps names of several damaged files of one moment apart.
 */
export const setAside = (path: string, now: number): SetAside => {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-")
  let aside = `${path}.damaged-${stamp}`
  for (let number = 2; existsSync(aside); number++) aside = `${path}.damaged-${stamp}-${number}`
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  const events = readableEvents(aside)
  if (events.length === 0) return { aside, saved: 0 }
  const file = SpoolFile.open(path)
  try {
    file.restore(events)
    return { aside, saved: events.length }
  } finally {
    file.close()
  }
}

/** Every event that reads from the first one on, and from the last one back. */
const readableEvents = (path: string): ReadonlyArray<WireEvent> => {
  const found = new Map<unknown, WireEvent>()
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { defensive: false })
    // Definitions that are damaged are left out, and hide no others.
    database.exec("PRAGMA writable_schema = ON")
    for (const direction of ["ASC", "DESC"]) collect(database, direction, found)
  } catch {
    // Not a database: there is nothing to read.
  }
  try {
    database?.close()
  } catch {
    // A damaged file may fail even to close.
  }
  return [...found.entries()].sort(([a], [b]) => Number(a) - Number(b)).map(([, event]) => event)
}

const collect = (database: DatabaseSync, direction: string, found: Map<unknown, WireEvent>): void => {
  try {
    const rows = database.prepare(`SELECT * FROM result NOT INDEXED ORDER BY rowid ${direction}`).iterate()
    for (const row of rows) {
      // By place, because a column's name may be damaged.
      const [seq, id, checkId, , , , , body] = Object.values(row)
      if (found.has(seq)) return
      const event = savedNote(String(body))
      if (isEvent(event) && event.event_id === id && event.check_id === checkId) found.set(seq, event)
    }
  } catch {
    // The damage begins here.
  }
}

/** Whether it has what the spool needs of an event; the server judges the rest. */
const isEvent = (event: unknown): event is WireEvent =>
  typeof event === "object" &&
  event !== null &&
  "event_id" in event &&
  "check_id" in event &&
  "observed_at" in event &&
  "status" in event &&
  "exit_code" in event &&
  typeof event.status === "string" &&
  Number.isInteger(event.exit_code) &&
  !Number.isNaN(Date.parse(String(event.observed_at)))
