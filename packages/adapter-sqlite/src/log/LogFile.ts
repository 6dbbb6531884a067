import { closeSync, fdatasync, fstatSync, openSync, readSync, writeSync } from "node:fs"
import { IN_MEMORY } from "../connection/SqliteConnection.ts"

/** How far a log was written. Its salts change when it starts over: no commit lies between equal ones. */
export interface LogPosition {
  readonly salts: bigint
  readonly pages: number
}

/** Before the first page of any log. */
export const LOG_START: LogPosition = { salts: 0n, pages: 0 }

export const isSamePosition = (one: LogPosition, other: LogPosition): boolean =>
  one.salts === other.salts && one.pages === other.pages

/** Syncs an open file to the disk off the main thread, as `fs.fdatasync` does. */
export type SyncFile = (descriptor: number, done: (error: Error | null) => void) => void

/** A page in the log with its header (SQLite, "Database File Format", 4.1). */
const FRAME_BYTES = 4_120

/** Pages of room that `makeRoom` provides, so that the usual transaction does not lengthen the file. */
const ROOM_PAGES = 64

const STEP_BYTES = 1_048_576

export const SALTS_AT = 16
export const SALTS_BYTES = 8

const ZEROS = Buffer.alloc(65_536)

/** The log on a descriptor that SQLite does not lock: closing it drops none of SQLite's locks. */
export class LogFile {
  readonly #descriptor: number | undefined
  readonly #sync: SyncFile
  readonly #mostBytes: number
  readonly #salts = Buffer.alloc(SALTS_BYTES)
  #bytes: number | undefined

  /** `makeRoom` lengthens the file up to `mostBytes`. Throws errors of the file system. */
  constructor(
    file: string,
    { sync = fdatasync, mostBytes }: { sync: SyncFile | undefined; mostBytes: number },
  ) {
    // Windows syncs only writable files.
    this.#descriptor = file === IN_MEMORY ? undefined : openSync(`${file}-wal`, "r+")
    this.#sync = sync
    this.#mostBytes = mostBytes
  }

  /** Calls `done` when all writes before the call are on the disk; immediately in memory. */
  sync(done: (error: Error | null) => void): void {
    if (this.#descriptor === undefined) done(null)
    else this.#sync(this.#descriptor, done)
  }

  /** The position after `pages`; its salts are 0 while the log is empty. */
  positionAt(pages: number): LogPosition {
    if (this.#descriptor === undefined) return { ...LOG_START, pages }
    this.#salts.fill(0)
    readSync(this.#descriptor, this.#salts, 0, SALTS_BYTES, SALTS_AT)
    return { salts: this.#salts.readBigUInt64BE(), pages }
  }

  /**
   * Lengthens the file with zeros when little room is left: a sync of overwritten bytes costs half of one that
   * also writes the file system's journal. Call it only in a transaction, which excludes other writers. SQLite
   * ignores frames without the log's salts.
   */
  makeRoom(pages: number): void {
    if (this.#descriptor === undefined) return
    const wanted = (pages + ROOM_PAGES) * FRAME_BYTES
    if (this.#bytes !== undefined && this.#bytes >= Math.min(wanted, this.#mostBytes)) return
    this.#bytes = fstatSync(this.#descriptor).size
    const end = Math.min(this.#bytes + STEP_BYTES, this.#mostBytes)
    if (this.#bytes >= Math.min(wanted, this.#mostBytes)) return
    try {
      while (this.#bytes < end) {
        const length = Math.min(ZEROS.length, end - this.#bytes)
        this.#bytes += writeSync(this.#descriptor, ZEROS, 0, length, this.#bytes)
      }
    } catch {
      // A full disk, say: the transaction fails itself if it needs the room.
      this.#bytes = end
    }
  }

  /** To be called when the file may have become shorter. */
  forgetLength(): void {
    this.#bytes = undefined
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}
