import { closeSync, fdatasync, openSync } from "node:fs"
import { IN_MEMORY } from "../connection/SqliteConnection.ts"

/** Syncs what was written to an open file to the disk, as `fs.fdatasync` does: off the main thread. */
export type SyncFile = (descriptor: number, done: (error: Error | null) => void) => void

/**
 * The write-ahead log of an open database, to be synced. On a descriptor of its own, which is not the one that SQLite
 * locks: closing it drops none of SQLite's locks. While any connection is open the log stays the same file.
 */
export class LogSync {
  readonly #descriptor: number | undefined
  readonly #sync: SyncFile

  /** Throws errors of the file system. */
  constructor(file: string, sync: SyncFile = fdatasync) {
    // Windows syncs only what may be written.
    this.#descriptor = file === IN_MEMORY ? undefined : openSync(`${file}-wal`, "r+")
    this.#sync = sync
  }

  /** Calls `done` when all that was written before the call is on the disk; at once in memory. */
  sync(done: (error: Error | null) => void): void {
    if (this.#descriptor === undefined) done(null)
    else this.#sync(this.#descriptor, done)
  }

  /** Gives the descriptor back; no sync may be under way. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}
