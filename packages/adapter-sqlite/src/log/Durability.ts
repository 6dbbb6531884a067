import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Effect } from "effect"
import type { SqliteFailures } from "../connection/SqliteFailures.ts"
import type { LogFile } from "./LogFile.ts"
import type { LogHealth } from "./LogHealth.ts"
import { isSamePosition, LOG_START, type LogPosition } from "./LogPosition.ts"

/** Whoever waits for what was committed to be durable. */
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
  /** Called after a sync, when those who waited for it have their answers. */
  readonly onSynced: () => void
  /** Called when a sync failed. */
  readonly onFailed: () => void
}

/**
 * Answers commits once they are on the disk. One sync is under way at a time and covers all that was committed before it
 * began; what is committed meanwhile waits for the next one. A commit that wrote nothing waits too, for what it may have
 * read: an answer never tells of what a loss of power could still undo.
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

  /** How many wait for their answers. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Up to where the log was on the disk when those who waited for it had their answers. */
  get acknowledged(): LogPosition {
    return this.#acknowledged
  }

  /** Why the last sync that failed did so. */
  get failure(): Effect.Effect<never, StorageError> | undefined {
    return this.#failure
  }

  /**
   * Answers those whose transaction was committed just now, as soon as that and all that it read is durable. `position`:
   * how far the log was written then, by this connection and by others.
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

  /** After a failed sync the next one may succeed without having written what this one did not: none is tried. */
  #fail(error: Error): void {
    const failure = this.#options.failures.toEffect(error)
    this.#failure = failure
    this.#options.health.apply("sync_failed")
    // None of them is answered. Once commands are taken again, all that they may read is on the disk.
    this.#synced = this.#written
    const commits = this.#commits.splice(0)
    this.#unanswered = 0
    for (const { waiting } of commits) for (const one of waiting) one.fail(failure)
    this.#options.onFailed()
  }
}
