import { statfsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { IN_MEMORY, type SqliteConnection } from "../connection/SqliteConnection.ts"
import type { SqliteFailures } from "../connection/SqliteFailures.ts"
import { Checkpoints } from "./Checkpoints.ts"
import { CheckpointWorker } from "./CheckpointWorker.ts"
import { Durability, type Waiting } from "./Durability.ts"
import { LogFile, type LogPosition, type SyncFile } from "./LogFile.ts"
import { LogHealth } from "./LogTransitions.ts"
import { noteFailedSync } from "./verifyOpened.ts"

/** Limits of a write-ahead log; each has a default. */
export interface LogOptions {
  /** Syncs the log's file; `fs.fdatasync`. */
  readonly sync?: SyncFile | undefined
  /**
   * The number of pages (4 KiB) in use at which it moves into the file; 16,384 (64 MiB), and less where
   * that is more than an eighth of the free space.
   */
  readonly checkpointPages?: number | undefined
  /** The most pages that it may hold; 262,144 (1 GiB). */
  readonly mostPages?: number | undefined
  /** Called when a sync has failed: the storage refuses commands until it is opened again. */
  readonly onFailed?: ((failure: Effect.Effect<never, StorageError>) => void) | undefined
}

const CHECKPOINT_PAGES = 16_384
const LEAST_CHECKPOINT_PAGES = 256
/** The log keeps twice the pages at which it moves: a quarter of the space that is free for it. */
const PART_OF_SPACE = 8
const MOST_PAGES = 262_144
const PAGE_BYTES = 4_096
const BYTES_PER_MIB = 1_048_576

/** How many commands may wait for one sync. */
const UNANSWERED_LIMIT = 4_096

const refuse = (message: string): Effect.Effect<never, StorageError> =>
  Effect.fail(new StorageError({ reason: "unavailable", message }))

/** The pages at which a log moves: a small volume must have room for the database too. */
const pagesFor = (file: string): number => {
  if (file === IN_MEMORY) return CHECKPOINT_PAGES
  const { bavail, bsize } = statfsSync(dirname(file))
  const space = bavail * bsize + statSync(`${file}-wal`).size
  const part = Math.floor(space / PART_OF_SPACE / PAGE_BYTES)
  return Math.min(CHECKPOINT_PAGES, Math.max(LEAST_CHECKPOINT_PAGES, part))
}

/**
 * The write-ahead log of a connection's file: it makes commits durable and stays short, without
 * blocking the event loop. A database in memory has no log, and its commits count as durable.
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
    const { file } = connection
    const { checkpointPages = pagesFor(file), mostPages = MOST_PAGES } = options
    this.#connection = connection
    this.#mostPages = mostPages
    // Twice, so that the file is seldom cut: bytes that it already has are synced faster.
    const keptBytes = 2 * checkpointPages * PAGE_BYTES
    this.#health.apply("opened")
    this.#file = new LogFile(file, { sync: options.sync, mostBytes: keptBytes })
    this.#checkpoints = new Checkpoints({
      worker: new CheckpointWorker({ file, keptBytes }),
      health: this.#health,
      checkpointPages,
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
      onFailed: (failure) => {
        noteFailedSync(file, this.#acknowledged())
        this.#onReady()
        options.onFailed?.(failure)
      },
    })
  }

  /** Calls `onReady` whenever a sync or a checkpoint has ended; writes may be possible again. */
  listen(onReady: () => void): void {
    this.#onReady = onReady
  }

  /** Whether the next transaction can run, or be refused, now; otherwise wait for `onReady`. */
  get isReady(): boolean {
    if (this.refusal !== undefined) return true
    return !this.#checkpoints.isHeld && this.#durability.unanswered < UNANSWERED_LIMIT && !this.#isFull
  }

  /** The bytes in use. */
  get bytes(): number {
    return this.#pages * PAGE_BYTES
  }

  /** How many callers wait for their answers. */
  get unanswered(): number {
    return this.#durability.unanswered
  }

  /** Why writes are refused: after a failed sync, until the file is opened again. */
  get refusal(): Effect.Effect<never, StorageError> | undefined {
    const { file } = this.#connection
    const { failure } = this.#checkpoints
    if (this.#health.isFailed) return this.#durability.failure
    if (!this.#isFull || failure === undefined) return undefined
    const mib = Math.round((this.#pages * PAGE_BYTES) / BYTES_PER_MIB)
    return refuse(
      `${file}-wal has grown to ${mib} MiB and cannot be moved into the file (${failure}): stop the process that keeps the file open, or check its disk`,
    )
  }

  /** Lengthens the log's file ahead of a commit. Call it in the transaction. */
  makeRoom(): void {
    this.#file.makeRoom(this.#pages)
  }

  /** Answers the callers of the transaction that was just committed; see `Durability.answer`. */
  answer(waiting: ReadonlyArray<Waiting>): void {
    this.#pages = this.#connection.logPages()
    this.#durability.answer(waiting, this.#file.positionAt(this.#pages))
    this.#checkpoints.consider(this.#pages)
  }

  /** Ends the work in progress. All commits are answered already. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#checkpoints.close(() => {
      this.#file.close()
      // SQLite would move it into the file as it is.
      if (this.#health.isFailed) this.#connection.keepLog()
      this.#health.apply("closed")
      resume(Effect.void)
    })
  })

  /** The acknowledged part of the log; of one that has started over since, nothing. */
  #acknowledged(): LogPosition {
    const { acknowledged } = this.#durability
    try {
      const start = this.#file.positionAt(0)
      return acknowledged.salts === start.salts ? acknowledged : start
    } catch {
      return acknowledged
    }
  }

  get #isFull(): boolean {
    return this.#pages >= this.#mostPages
  }
}
