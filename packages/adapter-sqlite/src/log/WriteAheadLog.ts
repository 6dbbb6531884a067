import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { statfsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { IN_MEMORY, type SqliteConnection } from "../connection/SqliteConnection.ts"
import type { SqliteFailures } from "../connection/SqliteFailures.ts"
import { Checkpoints, CheckpointWorker } from "./Checkpoints.ts"
import { isSamePosition, LOG_START, LogFile, type LogPosition, type SyncFile } from "./LogFile.ts"
import { LogHealth } from "./LogTransitions.ts"
import { noteFailedSync } from "./verifyOpened.ts"

/** The caller of a committed command, which waits until the commit is durable. */
export interface Waiting {
  readonly answer: () => void
  readonly fail: (failure: Effect.Effect<never, StorageError>) => void
}

interface Commit {
  readonly number: number
  readonly waiting: ReadonlyArray<Waiting>
}

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

/** Whether a log started over once since a position, and has one page: the first part of the salts counts. */
const isNext = (former: LogPosition, { pages, salts }: LogPosition): boolean =>
  pages === 1 && salts >> 32n === (former.salts >> 32n) + 1n

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
 *
 * One sync runs at a time and covers all commits before it; later ones wait for the next sync. A commit
 * that wrote nothing waits for what it may have read: no answer contains data that a power failure could undo.
 */
export class WriteAheadLog {
  readonly #connection: SqliteConnection
  readonly #failures: SqliteFailures
  readonly #mostPages: number
  readonly #file: LogFile
  readonly #checkpoints: Checkpoints
  readonly #health = new LogHealth()
  readonly #onFailed: LogOptions["onFailed"]
  #onReady: () => void = () => {}
  #pages = 0
  /** The data version in which this log knows all commits. */
  #version: bigint | undefined
  readonly #commits: Array<Commit> = []
  #written = 0
  #synced = 0
  #position = LOG_START
  /** The part of the log that was on the disk when its commits were answered. */
  #acknowledged = LOG_START
  #unanswered = 0
  #failure: Effect.Effect<never, StorageError> | undefined

  /** Throws errors of the file system. */
  constructor(connection: SqliteConnection, failures: SqliteFailures, options: LogOptions) {
    const { file } = connection
    const { checkpointPages = pagesFor(file), mostPages = MOST_PAGES } = options
    this.#connection = connection
    this.#failures = failures
    this.#mostPages = mostPages
    this.#onFailed = options.onFailed
    // Twice, so that the file is seldom cut: bytes that it already has are synced faster.
    const keptBytes = 2 * checkpointPages * PAGE_BYTES
    this.#health.apply("opened")
    this.#file = new LogFile(file, { sync: options.sync, mostBytes: keptBytes })
    this.#checkpoints = new Checkpoints({
      worker: new CheckpointWorker({ file, keptBytes }),
      health: this.#health,
      checkpointPages,
      knownEnd: () => {
        const end = this.#file.positionAt(connection.logPages())
        return connection.dataVersion() === this.#version ? end : undefined
      },
      onEnd: (followed) => {
        const version = connection.dataVersion()
        this.#pages = connection.logPages()
        if (followed !== undefined && isNext(followed, this.#file.positionAt(this.#pages)))
          this.#version = version
        this.#file.forgetLength()
        this.#onReady()
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
    return !this.#checkpoints.isHeld && this.#unanswered < UNANSWERED_LIMIT && !this.#isFull
  }

  get bytes(): number {
    return this.#pages * PAGE_BYTES
  }

  get unanswered(): number {
    return this.#unanswered
  }

  /** Why writes are refused: after a failed sync, until the file is opened again. */
  get refusal(): Effect.Effect<never, StorageError> | undefined {
    const { failure } = this.#checkpoints
    if (this.#health.isFailed) return this.#failure
    if (!this.#isFull || failure === undefined) return undefined
    const mib = Math.round((this.#pages * PAGE_BYTES) / BYTES_PER_MIB)
    return refuse(
      `${this.#connection.file}-wal has grown to ${mib} MiB and cannot be moved into the file (${failure}): stop the process that keeps the file open, or check its disk`,
    )
  }

  /**
   * Lengthens the log's file ahead of a commit. Returns whether all that was committed since the last transaction is
   * this log's. Call it in each transaction.
   */
  begin(): boolean {
    this.#file.makeRoom(this.#pages)
    const version = this.#connection.dataVersion()
    const isOwn = version === this.#version
    this.#version = version
    return isOwn
  }

  /** Answers the callers of the transaction that was just committed, once it and all that it read are durable. */
  answer(waiting: ReadonlyArray<Waiting>): void {
    this.#pages = this.#connection.logPages()
    // The end of the log, whichever connection wrote it.
    this.#answerAt(this.#file.positionAt(this.#pages), waiting)
    this.#checkpoints.consider(this.#pages)
  }

  #answerAt(position: LogPosition, waiting: ReadonlyArray<Waiting>): void {
    if (!isSamePosition(position, this.#position)) this.#written += 1
    this.#position = position
    if (this.#written === this.#synced) {
      for (const one of waiting) one.answer()
      return
    }
    this.#commits.push({ number: this.#written, waiting })
    this.#unanswered += waiting.length
    if (this.#health.state !== "syncing") this.#sync()
  }

  #sync(): void {
    this.#health.apply("sync_started")
    const [covered, position] = [this.#written, this.#position]
    this.#file.sync((error) => {
      if (error !== null) return this.#fail(error)
      this.#synced = covered
      this.#acknowledged = position
      this.#health.apply("synced")
      this.#answerSynced()
    })
  }

  #answerSynced(): void {
    const durable = this.#commits.findIndex(({ number }) => number > this.#synced)
    const commits = this.#commits.splice(0, durable === -1 ? this.#commits.length : durable)
    if (this.#commits.length > 0) this.#sync()
    for (const { waiting } of commits) {
      this.#unanswered -= waiting.length
      for (const one of waiting) one.answer()
    }
    this.#onReady()
  }

  /** Does not retry: the next sync may succeed without writing what this one failed to write. */
  #fail(error: Error): void {
    const failure = this.#failures.unsynced(error)
    this.#failure = failure
    this.#health.apply("sync_failed")
    const commits = this.#commits.splice(0)
    this.#unanswered = 0
    for (const { waiting } of commits) for (const one of waiting) one.fail(failure)
    noteFailedSync(this.#connection.file, this.#keptPart())
    this.#onReady()
    this.#onFailed?.(failure)
  }

  /** The acknowledged part of the log; of one that has started over since, nothing. */
  #keptPart(): LogPosition {
    try {
      const start = this.#file.positionAt(0)
      return this.#acknowledged.salts === start.salts ? this.#acknowledged : start
    } catch {
      return this.#acknowledged
    }
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

  get #isFull(): boolean {
    return this.#pages >= this.#mostPages
  }
}
