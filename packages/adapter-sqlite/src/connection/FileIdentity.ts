import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Predicate } from "effect"
import { SqliteFailures } from "./SqliteFailures.ts"

// As many as Linux follows.
const MOST_LINKS = 40

/**
 * The file that a connection has open. SQLite keeps writing to a file that was deleted or moved, and
 * would lose all of that when the process ends.
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

  /** Whether a path leads to the same file. */
  isThatOf(path: string): boolean {
    const found = stat(path)
    return found !== undefined && found.ino === this.#inode && found.dev === this.#device
  }

  /** Throws a StorageError if the file under its name is not the opened one. */
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

/**
 * The file that a path leads to through symbolic links, beside which SQLite keeps the log. The file
 * need not exist yet. A path whose links lead nowhere is returned as it is. Fails if this user may not
 * look into a folder on the way.
 */
export const realFile = (path: string): Effect.Effect<string, StorageError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(followed(path))
    } catch (cause) {
      if (!(Predicate.hasProperty(cause, "code") && cause.code === "EACCES"))
        return new SqliteFailures(path).toEffect(cause)
      const message = `this user may not read the folder of ${path}: run the command as the service's user, for example by sudo -u tocsin`
      return Effect.fail(new StorageError({ reason: "read_only", message }))
    }
  })

const followed = (path: string): string => {
  let file = path
  for (let links = 0; links < MOST_LINKS; links++) {
    if (existsSync(file)) return lstatSync(file).isSymbolicLink() ? realpathSync(file) : file
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file
    file = resolve(dirname(file), readlinkSync(file))
  }
  return path
}
