import { closeSync, fdatasync, fstatSync, openSync, readSync, writeSync } from "node:fs"
import { IN_MEMORY } from "../connection/SqliteConnection.ts"

/** Syncs what was written to an open file to the disk, as `fs.fdatasync` does: off the main thread. */
export type SyncFile = (descriptor: number, done: (error: Error | null) => void) => void

/** One page in the log, with its header (SQLite, "Database File Format", 4.1). */
const FRAME_BYTES = 4_120

/** For how many pages there should be room, so that the usual transaction lengthens no file. */
const ROOM_PAGES = 64

/** By how much the file is lengthened at once. */
const STEP_BYTES = 1_048_576

/** Where the salts stand in the header of a log. */
export const SALTS_AT = 16
export const SALTS_BYTES = 8

const ZEROS = Buffer.alloc(65_536)

/**
 * The file of an open database's write-ahead log. On a descriptor of its own, which is not the one that SQLite locks:
 * closing it drops none of SQLite's locks. While any connection is open the log stays the same file.
 */
export class LogFile {
  readonly #descriptor: number | undefined
  readonly #sync: SyncFile
  readonly #mostBytes: number
  readonly #salts = Buffer.alloc(SALTS_BYTES)
  #bytes: number | undefined

  /** `mostBytes`: beyond this it is not lengthened ahead. Throws errors of the file system. */
  constructor(
    file: string,
    { sync = fdatasync, mostBytes }: { sync: SyncFile | undefined; mostBytes: number },
  ) {
    // Windows syncs only what may be written.
    this.#descriptor = file === IN_MEMORY ? undefined : openSync(`${file}-wal`, "r+")
    this.#sync = sync
    this.#mostBytes = mostBytes
  }

  /** Calls `done` when all that was written before the call is on the disk; at once in memory. */
  sync(done: (error: Error | null) => void): void {
    if (this.#descriptor === undefined) done(null)
    else this.#sync(this.#descriptor, done)
  }

  /** The salts of its header, which change whenever the log starts over; 0 while nothing was written to it. */
  salts(): bigint {
    if (this.#descriptor === undefined) return 0n
    this.#salts.fill(0)
    readSync(this.#descriptor, this.#salts, 0, SALTS_BYTES, SALTS_AT)
    return this.#salts.readBigUInt64BE()
  }

  /**
   * Lengthens the file with zeros where little is left behind the `pages` that are in use. A sync of what takes the place
   * of other bytes costs half of one that makes a file longer, which has to write the file system's journal as well. To be
   * called in a transaction alone: the write lock keeps everybody else from writing there. SQLite reads no zeros: frames
   * without the log's salt are not part of it.
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
      // No room on the disk, say: the transaction itself will tell, if it needs any.
      this.#bytes = end
    }
  }

  /** The file may have become shorter. */
  forgetLength(): void {
    this.#bytes = undefined
  }

  /** Gives the descriptor back; no sync may be under way. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}
