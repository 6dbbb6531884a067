import { existsSync } from "node:fs"
import { StorageError } from "@tocsin/core/ports/Storage"
import { FileHeader } from "./FileHeader.ts"
import { FileIdentity } from "./FileIdentity.ts"

/**
 * The files that a connection has open. SQLite keeps writing to a file that was deleted or moved, and
 * would lose all of that when the process ends.
 */
export class OpenFiles {
  readonly #file: string
  readonly #identity: FileIdentity
  #header: FileHeader | undefined
  #log: FileIdentity | undefined
  #index: FileIdentity | undefined
  #hasIndex = true

  constructor(file: string) {
    this.#file = file
    this.#identity = new FileIdentity(file)
  }

  /**
   * Looks after the log and its index too, which stay the same files while a connection is open, and
   * whether the database is overwritten. Throws errors of the file system.
   */
  addLog(): void {
    const found = this.#identity.find(this.#file)
    if (found !== undefined) this.#header = new FileHeader(this.#file, found)
    this.#log = new FileIdentity(`${this.#file}-wal`)
    this.#index = new FileIdentity(`${this.#file}-shm`)
  }

  /** Whether the file under its name is the opened one, with what checkpoints wrote to it. */
  get hasItsFile(): boolean {
    const found = this.#identity.find(this.#file)
    return found !== undefined && this.#header?.isOverwritten(found) !== true
  }

  /**
   * The fault if a file under its name is not the opened one. Each look costs some microseconds:
   * transactions leave out the index, which other processes alone need, unless `all` has missed it.
   */
  lost(looked: "file and log" | "all"): StorageError | undefined {
    if (!this.hasItsFile) return this.#fileIsLost()
    if (looked === "all") this.#hasIndex = this.#index?.isThatOf(`${this.#file}-shm`) ?? true
    if (this.#log?.isThatOf(`${this.#file}-wal`) === false) return this.#isLost("-wal")
    return this.#hasIndex ? undefined : this.#isLost("-shm")
  }

  #fileIsLost(): StorageError {
    return new StorageError({
      reason: "unavailable",
      message: existsSync(this.#file)
        ? `${this.#file} was replaced while Tocsin was running: stop Tocsin, delete the old -wal and -shm files, and start it again`
        : `${this.#file} was removed or moved while Tocsin was running: put it back, or stop Tocsin before you move it`,
    })
  }

  #isLost(suffix: "-wal" | "-shm"): StorageError {
    return new StorageError({
      reason: "unavailable",
      message: `${this.#file}${suffix} was removed or replaced while Tocsin was running: stop Tocsin with SIGTERM, not SIGKILL, and start it again`,
    })
  }

  /** To be called once the connection is closed. */
  close(): void {
    this.#header?.close()
  }
}
