import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Effect } from "effect"
import type { SqliteFailures } from "../connection/SqliteFailures.ts"
import type { LogFile } from "./LogFile.ts"

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
  /** Called after a sync, when those who waited for it have their answers. */
  readonly onSynced: () => void
  /** Called when a sync failed; `recovered` ends what began with it. */
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
  #isSyncing = false
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

  /** Why nothing can be answered: a sync has failed, and not all that it was for is known to be on the disk. */
  get failure(): Effect.Effect<never, StorageError> | undefined {
    return this.#failure
  }

  /**
   * Answers those whose transaction was committed just now, as soon as that and all that it read is durable. `isNew`: this
   * or another connection has committed something since the last call.
   */
  answer(waiting: ReadonlyArray<Waiting>, isNew: boolean): void {
    if (isNew) this.#written += 1
    if (this.#written === this.#synced) {
      for (const one of waiting) one.answer()
      return
    }
    this.#commits.push({ number: this.#written, waiting })
    this.#unanswered += waiting.length
    if (!this.#isSyncing) this.#sync()
  }

  /** All that was committed is durable by other means than a sync of the log. */
  recovered(): void {
    this.#failure = undefined
    this.#synced = this.#written
  }

  #sync(): void {
    this.#isSyncing = true
    const covered = this.#written
    this.#log.sync((error) => {
      this.#isSyncing = false
      if (error === null) this.#succeed(covered)
      else this.#fail(error)
    })
  }

  #succeed(covered: number): void {
    this.#synced = covered
    const durable = this.#commits.findIndex(({ number }) => number > covered)
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
    const commits = this.#commits.splice(0)
    this.#unanswered = 0
    for (const { waiting } of commits) for (const one of waiting) one.fail(failure)
    this.#options.onFailed()
  }
}
