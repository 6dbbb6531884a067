import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import type { SqliteStorageOptions } from "@tocsin/adapter-sqlite/SqliteStorage"

const BLOCK_BYTES = 4_096
const SECTOR_BYTES = 512
const LOG_HEADER_BYTES = 32
const FRAME_BYTES = 4_120

const IO_ERROR = Object.assign(new Error("EIO: i/o error, fdatasync"), {
  code: "EIO",
  errno: -5,
  syscall: "fdatasync",
})

type SyncFile = NonNullable<NonNullable<SqliteStorageOptions["log"]>["sync"]>
type Done = Parameters<SyncFile>[1]

interface Waiting {
  /** The content of the log when the sync began. */
  readonly content: Buffer
  readonly done: Done
}

/**
 * A disk under the log of a database, whose syncs end or fail when a test decides. It knows which
 * part of the log survives a power loss, for a system that reports failed writes as synced.
 * SQLite's own syncs, at checkpoints and when the log starts over, succeed.
 */
export class FailingDisk {
  readonly #log: string
  readonly #file: string
  readonly #waiting: Array<Waiting> = []
  #isWorking = true
  #durable: Buffer = Buffer.alloc(0)
  /**
   * Blocks that a sync has failed to write, as they were then: until they change, no other sync
   * writes them.
   */
  readonly #forgotten = new Map<number, Buffer>()

  constructor(file: string) {
    this.#file = file
    this.#log = `${file}-wal`
  }

  readonly sync: SyncFile = (_, done) => {
    this.#waiting.push({ content: this.#read(), done })
    if (this.#isWorking) this.complete()
  }

  /** The number of running syncs. */
  get hanging(): number {
    return this.#waiting.length
  }

  /** From now on syncs hang; all that the log holds is on the disk. */
  hang(): void {
    this.#durable = this.#read()
    this.#isWorking = false
  }

  /** Lets every sync succeed, those that hang too. */
  work(): void {
    this.#isWorking = true
    while (this.#waiting.length > 0) this.complete()
  }

  /** Ends the sync that hangs, if any. */
  complete(): void {
    const ended = this.#waiting.shift()
    if (ended === undefined) return
    this.#observe()
    for (const [index, block] of blocksOf(ended.content)) {
      if (this.#forgotten.get(index)?.equals(block) === true) continue
      this.#forgotten.delete(index)
      this.#put(block, index * BLOCK_BYTES)
    }
    ended.done(null)
  }

  /**
   * Has the sync that hangs fail. Of the blocks that it did not write, those in `isLost` read as
   * they are on the disk.
   */
  fail(isLost: () => boolean): void {
    const ended = this.#waiting.shift()
    if (ended === undefined) return
    this.#observe()
    const now = this.#read()
    const log = openSync(this.#log, "r+")
    for (const [index, block] of blocksOf(ended.content)) {
      const at = index * BLOCK_BYTES
      const onDisk = Buffer.alloc(block.length)
      this.#durable.subarray(at, at + block.length).copy(onDisk)
      if (onDisk.equals(block)) continue
      this.#forgotten.set(index, block)
      if (isLost() && now.subarray(at, at + block.length).equals(block))
        writeSync(log, onDisk, 0, onDisk.length, at)
    }
    closeSync(log)
    ended.done(IO_ERROR)
  }

  /**
   * The database and its log after a power loss now. `survives` decides which unsynced writes are
   * there.
   */
  afterPowerLoss(survives: () => boolean): { readonly file: Buffer; readonly log: Buffer } {
    for (;;) {
      const before = this.#salts()
      const file = readFileSync(this.#file)
      this.#observe()
      const log = this.#read()
      // The log has not started over, so it holds the pages that the file may lack.
      if (this.#salts() === before) return { file, log: this.#survivor(log, survives) }
    }
  }

  #survivor(now: Buffer, survives: () => boolean): Buffer {
    const survivor = Buffer.alloc(now.length)
    this.#durable.copy(survivor)
    for (const [index, block] of blocksOf(now)) {
      if (this.#forgotten.get(index)?.equals(block) === true) continue
      for (let from = 0; from < block.length; from += SECTOR_BYTES) {
        if (survives()) block.copy(survivor, index * BLOCK_BYTES + from, from, from + SECTOR_BYTES)
      }
    }
    return survivor
  }

  /** Records the syncs of SQLite. */
  #observe(): void {
    const now = this.#read()
    const header = now.subarray(0, LOG_HEADER_BYTES)
    if (!header.equals(this.#durable.subarray(0, LOG_HEADER_BYTES))) {
      this.#put(header, 0)
      this.#forgotten.delete(0)
    }
    this.#put(now.subarray(0, LOG_HEADER_BYTES + this.#moved() * FRAME_BYTES), 0)
  }

  /** How many pages of the log were moved into the file. */
  #moved(): number {
    const reader = new DatabaseSync(this.#file, { readOnly: true })
    try {
      reader.exec("BEGIN; SELECT 1 FROM sqlite_schema; COMMIT")
      const { checkpointed } = reader.prepare("PRAGMA wal_checkpoint(NOOP)").get() ?? {}
      return Math.max(0, Number(checkpointed))
    } catch (error) {
      // A log that lost its first page cannot be read, and nothing is moved out of one that lost pages.
      if (this.#forgotten.size === 0) throw error
      return 0
    } finally {
      reader.close()
    }
  }

  #put(bytes: Buffer, at: number): void {
    const end = at + bytes.length
    if (end > this.#durable.length) {
      this.#durable = Buffer.concat([this.#durable, Buffer.alloc(end - this.#durable.length)])
    }
    bytes.copy(this.#durable, at)
  }

  #salts(): string {
    return this.#read().toString("hex", 16, 24)
  }

  #read(): Buffer {
    return existsSync(this.#log) ? readFileSync(this.#log) : Buffer.alloc(0)
  }
}

function* blocksOf(content: Buffer): Generator<readonly [index: number, block: Buffer]> {
  for (let at = 0; at < content.length; at += BLOCK_BYTES) {
    yield [at / BLOCK_BYTES, content.subarray(at, at + BLOCK_BYTES)]
  }
}
