import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { forbidden, isForbidden } from "./SqliteFailures.ts"

const MAGIC = "SQLite format 3\0"
/** The header of a database file, and offsets in it (SQLite, "Database File Format", 1.3). */
export const HEADER_BYTES = 100
const PAGE_SIZE_AT = 16
export const CHANGE_COUNTER_AT = 24
const PAGE_COUNT_AT = 28
export const FORMAT_AT = 18
export const FORMAT_WITH_LOG = 0x02_02
const VERSION_VALID_FOR_AT = 92
// The page size that does not fit its field, where it is written as 1.
const LARGEST_PAGE = 65_536
// A write-ahead log (4.1): a header, then frames, each of which is a header and a page.
export const LOG_HEADER_BYTES = 32
const LOG_MAGIC = 0x37_7f_06_82
const LOG_PAGE_SIZE_AT = 8
const SALT_AT = 16
const SALT_BYTES = 8
export const FRAME_HEADER_BYTES = 24
const FRAME_COUNT_AT = 4
const FRAME_SALT_AT = 8

/** The content at the path of a database before it is opened. */
export type FoundFile = "database" | "nothing"

/** Inspects a file without SQLite. Throws a StorageError if it must not be opened. */
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
    } catch (cause) {
      if (isForbidden(cause)) throw forbidden(path)
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
  // A crash during a checkpoint leaves a short file, and the rest in the log.
  const log = readLog(`${file}-wal`)
  if (log.pageCount !== undefined && !isOfLog(header, log)) {
    throw damaged(
      `${file} does not belong to ${file}-wal: if you restored a backup, delete ${file}-wal and ${file}-shm, otherwise restore one`,
    )
  }
  const expected = log.pageCount ?? counted
  for (let page = pages + 1; page <= expected; page++) {
    if (log.pages.has(page)) continue
    throw damaged(`${file} is truncated (${pages} of ${expected} pages remain): restore it from a backup`)
  }
}

/** Up to `length` bytes of a file from `position` on; fewer at its end. */
export const readAt = (path: string, position: number, length: number): Buffer => {
  const descriptor = openSync(path, "r")
  try {
    const buffer = Buffer.alloc(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position))
  } finally {
    closeSync(descriptor)
  }
}

/** The committed content of a write-ahead log. */
interface LogContent {
  readonly pages: ReadonlySet<number>
  /** The number of pages of the database with it; `undefined` without a commit. */
  readonly pageCount: number | undefined
  /** The change counter in its first copy of page 1. */
  readonly changeCounter: number | undefined
}

const NOTHING: LogContent = { pages: new Set(), pageCount: undefined, changeCounter: undefined }

/**
 * Whether a log, which SQLite would add to any file, continues this one: a backup has another format or
 * an older change counter. The counter grows by one at most from the file to the log.
 */
const isOfLog = (header: Buffer, { changeCounter = 0 }: LogContent): boolean =>
  header.readUInt16BE(FORMAT_AT) === FORMAT_WITH_LOG &&
  header.readUInt32BE(CHANGE_COUNTER_AT) + 1 >= changeCounter

/** Frames of an earlier use of the log have another salt. SQLite adds the pages of a torn commit too. */
const readLog = (path: string): LogContent => {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return NOTHING
  const descriptor = openSync(path, "r")
  try {
    return readFrames((position, buffer) => readSync(descriptor, buffer, 0, buffer.length, position))
  } finally {
    closeSync(descriptor)
  }
}

const readFrames = (read: (position: number, buffer: Buffer) => number): LogContent => {
  const header = Buffer.alloc(LOG_HEADER_BYTES)
  // The lowest bit of the magic number is the byte order of the checksums.
  const isLog = read(0, header) === LOG_HEADER_BYTES && (header.readUInt32BE(0) & ~1) >>> 0 === LOG_MAGIC
  if (!isLog) return NOTHING
  const salt = header.subarray(SALT_AT, SALT_AT + SALT_BYTES)
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(LOG_PAGE_SIZE_AT)
  const pages = new Set<number>()
  let uncommitted: Array<number> = []
  let pageCount: number | undefined
  let changeCounter: number | undefined
  const frame = Buffer.alloc(FRAME_HEADER_BYTES)
  const start = Buffer.alloc(HEADER_BYTES)
  for (
    let position = LOG_HEADER_BYTES;
    read(position, frame) === FRAME_HEADER_BYTES;
    position += frameBytes
  ) {
    if (!frame.subarray(FRAME_SALT_AT, FRAME_SALT_AT + SALT_BYTES).equals(salt)) break
    const page = frame.readUInt32BE(0)
    uncommitted.push(page)
    if (page === 1 && read(position + FRAME_HEADER_BYTES, start) === HEADER_BYTES)
      changeCounter ??= start.readUInt32BE(CHANGE_COUNTER_AT)
    const committed = frame.readUInt32BE(FRAME_COUNT_AT)
    if (committed === 0) continue
    pageCount = committed
    for (const committedPage of uncommitted) pages.add(committedPage)
    uncommitted = []
  }
  return { pages, pageCount, changeCounter }
}
