import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import type { SqliteFailures } from "../connection/SqliteFailures.ts"
import { Checkpoints } from "./Checkpoints.ts"
import { CheckpointWorker } from "./CheckpointWorker.ts"
import { Durability, type Waiting } from "./Durability.ts"
import { LogFile, type SyncFile } from "./LogFile.ts"
import { LogHealth } from "./LogHealth.ts"
import { spoiledLog } from "./verifyOpened.ts"

/** How a write-ahead log is kept; each has a default. */
export interface LogOptions {
  /** Syncs the log's file; `fs.fdatasync`. */
  readonly sync?: SyncFile | undefined
  /** From how many pages (4 KiB) in use on the log is moved into the file; 16,384, which is 64 MiB. */
  readonly checkpointPages?: number | undefined
  /** How many pages it may hold at most; 262,144, which is 1 GiB. */
  readonly mostPages?: number | undefined
}

const CHECKPOINT_PAGES = 16_384
const MOST_PAGES = 262_144
const PAGE_BYTES = 4_096
const BYTES_PER_MIB = 1_048_576

/** How many commands may wait for one sync: as many as may be in the queue before it. */
const UNANSWERED_LIMIT = 4_096

const refuse = (message: string): Effect.Effect<never, StorageError> =>
  Effect.fail(new StorageError({ reason: "unavailable", message }))

/**
 * The write-ahead log of the file that a connection writes to: when what was committed counts as durable, and how the log
 * stays short. Neither holds up the event loop. In memory all is durable, and there is no log.
 */
export class WriteAheadLog {
  readonly #connection: SqliteConnection
  readonly #mostPages: number
  readonly #file: LogFile
  readonly #durability: Durability
  readonly #checkpoints: Checkpoints
  readonly #health = new LogHealth()
  #pages = 0
  #onReady: () => void = () => {}

  /** Throws errors of the file system. */
  constructor(connection: SqliteConnection, failures: SqliteFailures, options: LogOptions) {
    const { checkpointPages = CHECKPOINT_PAGES, mostPages = MOST_PAGES } = options
    const { file } = connection
    this.#connection = connection
    this.#mostPages = mostPages
    // Twice, so that the log's file is seldom cut and lengthened again: what it has already is synced faster.
    const keptBytes = 2 * checkpointPages * PAGE_BYTES
    this.#health.apply("opened")
    this.#file = new LogFile(file, { sync: options.sync, mostBytes: keptBytes })
    this.#checkpoints = new Checkpoints({
      worker: new CheckpointWorker({ file, keptBytes }),
      health: this.#health,
      checkpointPages,
      acknowledged: () => this.#durability.acknowledged,
      onEnd: () => {
        this.#pages = connection.logPages()
        this.#file.forgetLength()
        this.#onReady()
      },
    })
    this.#durability = new Durability(this.#file, {
      failures,
      health: this.#health,
      onSynced: () => this.#onReady(),
      onFailed: () => {
        this.#checkpoints.restore()
        this.#onReady()
      },
    })
  }

  /** Calls `onReady` whenever a sync or a checkpoint has ended; writing may be possible again then. */
  listen(onReady: () => void): void {
    this.#onReady = onReady
  }

  /** Whether the next transaction may be run now, or has to be refused. Otherwise `listen` tells when to look again. */
  get isReady(): boolean {
    if (this.refusal !== undefined) return true
    return !this.#checkpoints.isHeld && this.#durability.unanswered < UNANSWERED_LIMIT && !this.#isFull
  }

  /** How many bytes of it are in use. */
  get bytes(): number {
    return this.#pages * PAGE_BYTES
  }

  /** How many wait for a sync, and then for their answers. */
  get unanswered(): number {
    return this.#durability.unanswered
  }

  /** Why nothing can be written for now; unless the log is spoiled, it is tried again and again to make that possible. */
  get refusal(): Effect.Effect<never, StorageError> | undefined {
    const { file } = this.#connection
    const { failure } = this.#checkpoints
    if (this.#health.state === "poisoned") return Effect.fail(spoiledLog(file))
    if (!this.#health.duty.takesCommands) {
      if (failure === undefined) return this.#durability.failure
      return refuse(
        `${file}-wal must start over after a failed sync, but cannot (${failure}): stop the process that keeps the file open, or check its disk`,
      )
    }
    if (!this.#isFull || failure === undefined) return undefined
    const mib = Math.round((this.#pages * PAGE_BYTES) / BYTES_PER_MIB)
    return refuse(
      `${file}-wal has grown to ${mib} MiB and cannot be moved into the file (${failure}): stop the process that keeps the file open, or check its disk`,
    )
  }

  /** To be called in a transaction, before it ends: keeps the log's file so long that the commit need not lengthen it. */
  makeRoom(): void {
    this.#file.makeRoom(this.#pages)
  }

  /** Answers those whose transaction was committed just now, as soon as that and all that it read is durable. */
  answer(waiting: ReadonlyArray<Waiting>): void {
    this.#pages = this.#connection.logPages()
    this.#durability.answer(waiting, { salts: this.#file.salts(), pages: this.#pages })
    this.#checkpoints.consider(this.#pages)
  }

  /** Ends what is under way. All that was committed is answered already. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#checkpoints.close(() => {
      this.#file.close()
      // SQLite would move it into the file as it is.
      if (!this.#health.duty.takesCommands) this.#connection.keepLog()
      this.#health.apply("closed")
      resume(Effect.void)
    })
  })

  get #isFull(): boolean {
    return this.#pages >= this.#mostPages
  }
}
