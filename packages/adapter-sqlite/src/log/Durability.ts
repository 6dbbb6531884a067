import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Effect } from "effect"
import type { SqliteFailures } from "../connection/SqliteFailures.ts"
import { isSamePosition, LOG_START, type LogFile, type LogPosition } from "./LogFile.ts"
import type { LogHealth } from "./LogTransitions.ts"

/** The caller of a committed command, which waits until the commit is durable. */
export interface Waiting {
  readonly answer: () => void
  readonly fail: (failure: Effect.Effect<never, StorageError>) => void
}

interface Commit {
  readonly number: number
  readonly waiting: ReadonlyArray<Waiting>
}

interface DurabilityOptions {
  readonly failures: SqliteFailures
  readonly health: LogHealth
  /** Called after a sync, once its callers have their answers. */
  readonly onSynced: () => void
  /** Called when a sync failed. */
  readonly onFailed: (failure: Effect.Effect<never, StorageError>) => void
}

/**
 * Answers commits once they are on the disk. One sync runs at a time and covers all commits before
 * it; later ones wait for the next sync. A commit that wrote nothing waits for what it may have read:
 * no answer contains data that a power failure could undo.
 */
export class Durability {
  readonly #log: LogFile
  readonly #options: DurabilityOptions
  readonly #commits: Array<Commit> = []
  #written = 0
  #synced = 0
  #position = LOG_START
  #acknowledged = LOG_START
  #unanswered = 0
  #failure: Effect.Effect<never, StorageError> | undefined

  constructor(log: LogFile, options: DurabilityOptions) {
    this.#log = log
    this.#options = options
  }

  /** How many callers wait for their answers. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** The part of the log that was on the disk when its commits were answered. */
  get acknowledged(): LogPosition {
    return this.#acknowledged
  }

  /** The failure of the last sync that failed. */
  get failure(): Effect.Effect<never, StorageError> | undefined {
    return this.#failure
  }

  /**
   * Answers the callers of the transaction that was just committed, as soon as it and all that it
   * read are durable. `position`: the end of the log, whichever connection wrote it.
   */
  answer(waiting: ReadonlyArray<Waiting>, position: LogPosition): void {
    if (!isSamePosition(position, this.#position)) this.#written += 1
    this.#position = position
    if (this.#written === this.#synced) {
      for (const one of waiting) one.answer()
      return
    }
    this.#commits.push({ number: this.#written, waiting })
    this.#unanswered += waiting.length
    if (this.#options.health.state !== "syncing") this.#sync()
  }

  #sync(): void {
    this.#options.health.apply("sync_started")
    const [covered, position] = [this.#written, this.#position]
    this.#log.sync((error) => {
      if (error !== null) return this.#fail(error)
      this.#synced = covered
      this.#acknowledged = position
      this.#options.health.apply("synced")
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
    this.#options.onSynced()
  }

  /** Does not retry: the next sync may succeed without writing what this one failed to write. */
  #fail(error: Error): void {
    const failure = this.#options.failures.unsynced(error)
    this.#failure = failure
    this.#options.health.apply("sync_failed")
    const commits = this.#commits.splice(0)
    this.#unanswered = 0
    for (const { waiting } of commits) for (const one of waiting) one.fail(failure)
    this.#options.onFailed(failure)
  }
}
