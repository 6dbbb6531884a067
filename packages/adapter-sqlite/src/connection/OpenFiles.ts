import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Predicate } from "effect"
import {
  type BigIntStats,
  existsSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
  closeSync,
  openSync,
  readSync,
} from "node:fs"
import { dirname, resolve } from "node:path"
import { SqliteFailures } from "./SqliteFailures.ts"
import { CHANGE_COUNTER_AT, FORMAT_AT, FORMAT_WITH_LOG, HEADER_BYTES } from "./inspectFile.ts"

// As many as Linux follows.
const MOST_LINKS = 40

/** The file that a path leads to now. */
export class FileIdentity {
  readonly #found: BigIntStats | undefined

  constructor(file: string) {
    this.#found = stat(file)
  }

  isThatOf(path: string): boolean {
    return this.find(path) !== undefined
  }

  /** The file system's facts about a path, if it leads to the same file. */
  find(path: string): BigIntStats | undefined {
    const found = stat(path)
    return found?.ino === this.#found?.ino && found?.dev === this.#found?.dev ? found : undefined
  }
}

const stat = (file: string) => statSync(file, { bigint: true, throwIfNoEntry: false })

/** Follows links to the file beside which SQLite keeps the log. The file need not exist yet. */
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

interface Descriptor {
  readonly number: number
  users: number
}

/** Closing any descriptor of a file drops all locks of the process on it: the last connection closes it. */
const descriptors = new Map<string, Descriptor>()

/**
 * The header of an open database, which shows that another program overwrote the file, as `cp` does.
 * Only checkpoints write to it, which leave its format as it is and never decrease the change counter.
 * A backup has the other format.
 */
class FileHeader {
  readonly #key: string
  readonly #descriptor: Descriptor
  readonly #bytes = Buffer.alloc(HEADER_BYTES)
  #size: bigint
  #changedAt: bigint
  #counter = 0
  #isOverwritten = false

  /** `found` is of the same file. Throws errors of the file system. */
  constructor(file: string, found: BigIntStats) {
    this.#key = `${found.dev} ${found.ino}`
    this.#descriptor = descriptors.get(this.#key) ?? { number: openSync(file, "r"), users: 0 }
    this.#descriptor.users += 1
    descriptors.set(this.#key, this.#descriptor)
    this.#size = found.size
    this.#changedAt = found.mtimeNs
    this.#read()
  }

  /** Whether the file was overwritten, now or before. Reads it only when it has changed. */
  isOverwritten(found: BigIntStats): boolean {
    if (found.mtimeNs === this.#changedAt && found.size === this.#size) return this.#isOverwritten
    const counter = this.#counter
    this.#changedAt = found.mtimeNs
    this.#size = found.size
    const isWhole = this.#read() && this.#bytes.readUInt16BE(FORMAT_AT) === FORMAT_WITH_LOG
    if (!isWhole || this.#counter < counter) this.#isOverwritten = true
    return this.#isOverwritten
  }

  #read(): boolean {
    const length = readSync(this.#descriptor.number, this.#bytes, 0, HEADER_BYTES, 0)
    this.#counter = this.#bytes.readUInt32BE(CHANGE_COUNTER_AT)
    return length === HEADER_BYTES
  }

  close(): void {
    this.#descriptor.users -= 1
    if (this.#descriptor.users > 0) return
    descriptors.delete(this.#key)
    closeSync(this.#descriptor.number)
  }
}

/** SQLite keeps writing to a file that was deleted or moved, and would lose all of that at the end. */
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

  /** Looks after the log and its index too, which stay the same files while a connection is open. */
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

  close(): void {
    this.#header?.close()
  }
}
