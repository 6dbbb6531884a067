import { existsSync, renameSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { SpoolFile } from "./SpoolFile.ts"

/** What became of a damaged spool. */
export interface SetAside {
  readonly aside: string
  readonly saved: number
}

/** Rows of a damaged file, as they are read: no value is trusted. */
type Row = Record<string, unknown>

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
  const rows = readableRows(aside)
  if (rows.length === 0) return { aside, saved: 0 }
  const file = SpoolFile.open(path)
  try {
    return { aside, saved: file.restore(rows) }
  } finally {
    file.close()
  }
}

/** Every row that reads from the first one on, and from the last one back. */
const readableRows = (path: string): ReadonlyArray<Row> => {
  const found = new Map<number, Row>()
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    for (const direction of ["ASC", "DESC"]) collect(database, direction, found)
  } catch {
    // Not a database: there is nothing to read.
  }
  try {
    database?.close()
  } catch {
    // A damaged file may fail even to close.
  }
  return [...found.entries()].sort(([a], [b]) => a - b).map(([, row]) => row)
}

const collect = (database: DatabaseSync, direction: string, found: Map<number, Row>): void => {
  try {
    const rows = database.prepare(`SELECT * FROM result NOT INDEXED ORDER BY seq ${direction}`).iterate()
    for (const row of rows) {
      const seq = Number(row["seq"])
      if (found.has(seq)) return
      if (isIntact(row)) found.set(seq, row)
    }
  } catch {
    // The damage begins here.
  }
}

const isIntact = ({ body, event_id: id, check_id: checkId }: Row): boolean => {
  if (typeof body !== "string") return false
  try {
    const event: unknown = JSON.parse(body)
    return (
      typeof event === "object" &&
      event !== null &&
      "event_id" in event &&
      "check_id" in event &&
      event.event_id === id &&
      event.check_id === checkId
    )
  } catch {
    return false
  }
}
