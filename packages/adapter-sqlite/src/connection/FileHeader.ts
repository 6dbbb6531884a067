import { type BigIntStats, closeSync, openSync, readSync } from "node:fs"
import { CHANGE_COUNTER_AT, FORMAT_AT, FORMAT_WITH_LOG, HEADER_BYTES } from "./inspectFile.ts"

interface Descriptor {
  readonly number: number
  users: number
}

/**
 * One descriptor for all connections of the process to a file: closing any drops all locks that the
 * process has on the file, so the last connection closes it.
 */
const descriptors = new Map<string, Descriptor>()

/**
 * The header of an open database, which shows that another program overwrote the file, as `cp` does.
 * Only checkpoints write to it, which leave its format as it is and never decrease the change counter.
 * A backup has the other format.
 */
export class FileHeader {
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

  /** To be called once the connection is closed. */
  close(): void {
    this.#descriptor.users -= 1
    if (this.#descriptor.users > 0) return
    descriptors.delete(this.#key)
    closeSync(this.#descriptor.number)
  }
}
