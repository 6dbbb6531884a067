import { StorageError } from "@tocsin/core/ports/Storage"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { readAt } from "./readAt.ts"
import { readWal } from "./readWal.ts"

const MAGIC = "SQLite format 3\0"
const HEADER_BYTES = 100
// Offsets in the header of a database file (SQLite, "Database File Format", 1.3).
const PAGE_SIZE_AT = 16
const CHANGE_COUNTER_AT = 24
const PAGE_COUNT_AT = 28
const VERSION_VALID_FOR_AT = 92
// The one page size that does not fit its field stands there as 1.
const LARGEST_PAGE = 65_536

/** What stands at the place of a database before it is opened. */
export type FoundFile = "database" | "nothing"

/**
 * Looks at a database file without SQLite and without changing anything. Throws a StorageError for what must not be
 * opened: no database (`damaged`), one that is shorter than its header and its write-ahead log say (`damaged`), a place
 * that cannot be written (`read_only`) or does not exist (`unavailable`).
 */
export const inspectFile = (file: string): FoundFile => {
  const folder = dirname(file)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw failed("unavailable", `${folder} is not a folder: create it, or name another one`)
  }
  const found = statSync(file, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) {
    throw failed("unavailable", `${file} is not a regular file: name a file for the database`)
  }
  verifyWritable(file, folder)
  if (found === undefined || found.size === 0) {
    if (fileSize(`${file}-wal`) === 0) return "nothing"
    throw damaged(
      `${file} is empty, but ${file}-wal contains changes to it: restore both from the same backup`,
    )
  }
  verifyComplete(file, found.size)
  return "database"
}

const failed = (reason: StorageError["reason"], message: string): StorageError =>
  new StorageError({ reason, message })
const damaged = (message: string): StorageError => failed("damaged", message)

const fileSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const verifyWritable = (file: string, folder: string): void => {
  const places = [folder, file, `${file}-wal`, `${file}-shm`].filter((path) => existsSync(path))
  for (const path of places) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK)
    } catch {
      throw failed("read_only", `${path} is not writable: give Tocsin's user write access`)
    }
  }
}

const verifyComplete = (file: string, size: number): void => {
  const header = readAt(file, 0, HEADER_BYTES)
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    throw damaged(`${file} is not an SQLite database: move it away, or restore it from a backup`)
  }
  const field = header.readUInt16BE(PAGE_SIZE_AT)
  const pageSize = field === 1 ? LARGEST_PAGE : field
  const pages = Math.floor(size / pageSize)
  const isCountValid = header.readUInt32BE(CHANGE_COUNTER_AT) === header.readUInt32BE(VERSION_VALID_FOR_AT)
  const counted = isCountValid ? header.readUInt32BE(PAGE_COUNT_AT) : 0
  if (pages >= counted && fileSize(`${file}-wal`) === 0) return
  // A process that ended while it moved its log into the file leaves a file that is short and a log that has the rest.
  const wal = readWal(`${file}-wal`)
  const expected = wal.pageCount ?? counted
  for (let page = pages + 1; page <= expected; page++) {
    if (wal.pages.has(page)) continue
    throw damaged(`${file} is truncated (${pages} of ${expected} pages remain): restore it from a backup`)
  }
}
