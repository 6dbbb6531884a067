import { fdatasync } from "node:fs"
import type { SyncFile } from "../../src/log/LogFile.ts"

/** A disk whose syncs end when a test says so, one at a time; at its start it works by itself. */
export class SlowDisk {
  readonly #waiting: Array<(error: Error | null) => void> = []
  #isHanging = false

  readonly sync: SyncFile = (descriptor, done) => {
    fdatasync(descriptor, (error) => {
      if (this.#isHanging) this.#waiting.push(done)
      else done(error)
    })
  }

  /** From now on syncs end by `complete` and `fail` alone. */
  hang(): void {
    this.#isHanging = true
  }

  /** Lets every sync succeed from now on, those that hang too. */
  work(): void {
    this.#isHanging = false
    for (const done of this.#waiting.splice(0)) done(null)
  }

  /** How many syncs hang. */
  get hanging(): number {
    return this.#waiting.length
  }

  /** Ends the oldest sync that hangs. */
  complete(): void {
    this.#waiting.shift()?.(null)
  }

  /** Has the oldest sync that hangs fail, as a disk that could not write does. */
  fail(): void {
    this.#waiting.shift()?.(
      Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO", errno: -5, syscall: "fdatasync" }),
    )
  }
}
