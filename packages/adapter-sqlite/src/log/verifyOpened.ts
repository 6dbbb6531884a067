import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES, readAt } from "../connection/inspectFile.ts"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { LOG_START, type LogPosition, SALTS_AT, SALTS_BYTES } from "./LogFile.ts"

interface LogReading {
  readonly pages: number
  /** Whether to write each page again and sync it: after a failed sync it may be in memory only. */
  readonly isWrittenAgain: boolean
}

/** Whether the pages in use read back, by their chain of checksums (SQLite, "Database File Format", 4.2). */
export const verifyLog = (path: string, { pages, isWrittenAgain }: LogReading): boolean => {
  const { openSync, readSync, writeSync, fsyncSync, closeSync } = process.getBuiltinModule("node:fs")
  const descriptor = openSync(path, isWrittenAgain ? "r+" : "r")
  try {
    const header = Buffer.alloc(LOG_HEADER_BYTES)
    if (readSync(descriptor, header, 0, LOG_HEADER_BYTES, 0) < LOG_HEADER_BYTES) return pages === 0
    // The lowest bit of the magic number is the byte order of the checksums.
    const isLittle = (header.readUInt32BE(0) & 1) === 0
    let [first, second] = [0, 0]
    const sum = (bytes: Buffer, from: number, to: number) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      for (let at = from; at < to; at += 8) {
        first = (first + view.getUint32(at, isLittle) + second) >>> 0
        second = (second + view.getUint32(at + 4, isLittle) + first) >>> 0
      }
    }
    const isSum = (bytes: Buffer, at: number) =>
      bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second
    sum(header, 0, 24)
    if (!isSum(header, 24)) return pages === 0
    if (isWrittenAgain) writeSync(descriptor, header, 0, LOG_HEADER_BYTES, 0)
    const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8))
    for (let page = 0; page < pages; page++) {
      const position = LOG_HEADER_BYTES + page * frame.length
      if (readSync(descriptor, frame, 0, frame.length, position) < frame.length) return false
      if (frame.compare(header, SALTS_AT, SALTS_AT + SALTS_BYTES, 8, 16) !== 0) return false
      sum(frame, 0, 8)
      sum(frame, FRAME_HEADER_BYTES, frame.length)
      if (!isSum(frame, 16)) return false
      if (isWrittenAgain) writeSync(descriptor, frame, 0, frame.length, position)
    }
    if (isWrittenAgain) fsyncSync(descriptor)
    return true
  } finally {
    closeSync(descriptor)
  }
}

const spoiledLog = (file: string): StorageError =>
  new StorageError({
    reason: "damaged",
    message: `${file}-wal has lost written pages: stop every program that has ${file} open, check the disk, and start Tocsin again`,
  })

const noteFile = (file: string): string => `${file}-wal-spoiled`

/** Notes which part of the log was acknowledged: later, checksums show only where it ends. */
export const noteFailedSync = (file: string, acknowledged: LogPosition): void => {
  const salts = acknowledged.salts.toString(16).padStart(16, "0")
  const text = `${salts} ${acknowledged.pages}\nTocsin keeps this file until it has started on the database again.\n`
  try {
    writeFileSync(noteFile(file), text, { flush: true })
  } catch {
    // The disk has failed: without the note the next start relies on the log's checksums alone.
  }
}

const readNote = (file: string): LogPosition | undefined => {
  try {
    const [, salts, pages] = /^([0-9a-f]{16}) (\d+)\n/.exec(readFileSync(noteFile(file), "utf8")) ?? []
    return salts === undefined ? undefined : { salts: BigInt(`0x${salts}`), pages: Number(pages) }
  } catch {
    return undefined
  }
}

/** Looks at the log before it counts as spoiled: one that starts over while it is read looks so. */
const LOOKS = 3

/**
 * Checks a log before it can be moved into the file; SQLite skips checksums while another process has it open.
 * Throws (`damaged`) if a page does not read back or an acknowledged one is missing. Returns whether a log that
 * was noted is gone. `connection` is read-only: closing it moves nothing.
 */
export const verifyOpened = (connection: SqliteConnection): boolean => {
  const { file } = connection
  const found = readSoundLog(connection)
  const { pages, salts } = readNote(file) ?? found
  if (salts !== found.salts) return salts !== LOG_START.salts
  if (found.pages >= pages) return false
  throw new StorageError({
    reason: "damaged",
    message: `${file}-wal has lost acknowledged changes: restore a backup, or delete ${noteFile(file)} to start without them`,
  })
}

const readSoundLog = (connection: SqliteConnection): LogPosition => {
  const log = `${connection.file}-wal`
  const position = () => {
    const pages = connection.logPages()
    return pages === 0 ? LOG_START : { salts: readAt(log, SALTS_AT, SALTS_BYTES).readBigUInt64BE(), pages }
  }
  for (let look = 1; ; look++) {
    const { salts, pages } = position()
    if (pages === 0 || verifyLog(log, { pages, isWrittenAgain: false })) return { salts, pages }
    if (look === LOOKS || position().salts === salts) throw spoiledLog(connection.file)
  }
}

/** Writes the rest of a sound log again and syncs it, as it may be in memory only; then ends the note. */
export const endNote = (connection: SqliteConnection): void => {
  const { file } = connection
  if (readNote(file) !== undefined) {
    connection.guardLog()
    try {
      writeLogAgain(connection)
    } catch (cause) {
      connection.keepLog()
      throw cause
    }
  }
  rmSync(noteFile(file), { force: true })
}

const writeLogAgain = (connection: SqliteConnection): void => {
  const pages = connection.logPages()
  const log = `${connection.file}-wal`
  // The transaction excludes other writers.
  const isSound = connection.transaction(() => pages === 0 || verifyLog(log, { pages, isWrittenAgain: true }))
  if (!isSound) throw spoiledLog(connection.file)
}
