import { StorageError } from "@tocsin/core/ports/Storage"
import { statSync } from "node:fs"

/**
 * Which file a connection has open. SQLite goes on writing to a file that was deleted or moved, and all of that would be
 * gone with the process.
 */
export class FileIdentity {
  readonly #file: string
  readonly #device: bigint | undefined
  readonly #inode: bigint | undefined

  constructor(file: string) {
    this.#file = file
    const found = stat(file)
    this.#device = found?.dev
    this.#inode = found?.ino
  }

  /** Whether a path leads to this very file. */
  isThatOf(path: string): boolean {
    const found = stat(path)
    return found !== undefined && found.ino === this.#inode && found.dev === this.#device
  }

  /** Throws a StorageError unless the file that was opened still stands under its name. */
  verify(): void {
    if (this.isThatOf(this.#file)) return
    const found = stat(this.#file)
    throw new StorageError({
      reason: "unavailable",
      message:
        found === undefined
          ? `${this.#file} was removed or moved while Tocsin was running: put it back, or stop Tocsin before you move it`
          : `${this.#file} was replaced while Tocsin was running: stop Tocsin, delete the old -wal and -shm files, and start it again`,
    })
  }
}

const stat = (file: string) => statSync(file, { bigint: true, throwIfNoEntry: false })
