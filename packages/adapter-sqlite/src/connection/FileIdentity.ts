import { type BigIntStats, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Predicate } from "effect"
import { SqliteFailures } from "./SqliteFailures.ts"

// As many as Linux follows.
const MOST_LINKS = 40

/** The file that a path leads to now. */
export class FileIdentity {
  readonly #device: bigint | undefined
  readonly #inode: bigint | undefined

  constructor(file: string) {
    const found = stat(file)
    this.#device = found?.dev
    this.#inode = found?.ino
  }

  /** Whether a path leads to the same file. */
  isThatOf(path: string): boolean {
    return this.find(path) !== undefined
  }

  /** The file system's facts about a path, if it leads to the same file. */
  find(path: string): BigIntStats | undefined {
    const found = stat(path)
    return found?.ino === this.#inode && found?.dev === this.#device ? found : undefined
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
