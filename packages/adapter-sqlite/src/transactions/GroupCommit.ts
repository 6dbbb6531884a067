import type { CommitMeter } from "@tocsin/core/engine/metrics/CommitMeter"
import { Workspace, type WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { LockPatience } from "../connection/LockPatience.ts"
import { isLocked } from "../connection/SqliteFailures.ts"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import type { Waiting } from "../log/Durability.ts"
import type { WriteAheadLog } from "../log/WriteAheadLog.ts"
import type { StoredRows } from "./StoredRows.ts"
import { TaskQueue } from "./TaskQueue.ts"
import { makeTask, type Task, type Work } from "./Task.ts"
import type { LockOptions } from "../connection/whileLocked.ts"

/** Beyond this a sync to the disk is shared by so many that sharing it with more gains nothing. */
const GROUP_LIMIT = 256

/**
 * A group takes no more commands after so long, whatever their number: writing takes as long again, and for all that time
 * the event loop answers nobody else.
 */
const GROUP_MILLIS = 10

/** How long a few commands wait for a sync that is under way, so that they join those who come after it. */
const GATHER_MILLIS = 2

/** Work that searches the tables asks to be run on a workspace that holds nothing else, whose changes no search sees. */
export class NeedsOwnWorkspace extends Error {}

interface GroupCommitOptions extends LockOptions {
  readonly log: WriteAheadLog
  readonly rows: StoredRows
  readonly meter: CommitMeter
}

/**
 * Group commit: what arrived since the last commit is one transaction, run from start to end without a pause and answered
 * once it is durable; the next ones are run meanwhile, unless they are few. An idle storage commits at once. A group that
 * fails is repeated one command at a time, so that none fails for a neighbour's sake.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #options: GroupCommitOptions
  readonly #log: WriteAheadLog
  readonly #rows: StoredRows
  readonly #queue = new TaskQueue()
  #cancelNext: (() => void) | undefined
  #gathering: NodeJS.Timeout | undefined
  #lockDelays: LockPatience | undefined
  #isClosed = false
  #onFinished: (() => void) | undefined

  constructor(connection: SqliteConnection, options: GroupCommitOptions) {
    this.#connection = connection
    this.#options = options
    this.#log = options.log
    this.#rows = options.rows
    options.log.listen(() => {
      this.#endGathering()
      if (this.#isClosed) this.#finish()
      else this.#scheduleNext()
    })
  }

  /**
   * Runs `work` in a transaction and answers when that is durable. Interruption takes it back as long as it has not run.
   * With `isAlone` it has a transaction to itself.
   */
  submit<A>(work: Work<A>, { isAlone }: { readonly isAlone: boolean }): Effect.Effect<A, StorageError> {
    return Effect.callback((resume) => {
      if (this.#isClosed) return resume(this.#options.failures.closed)
      const task = makeTask(work, resume, { isAlone, patience: new LockPatience(this.#options.lockMillis) })
      this.#queue.add(task)
      this.#scheduleNext()
      return Effect.sync(() => this.#queue.remove(task))
    })
  }

  /** Finishes what is queued and refuses all that comes later. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#isClosed = true
    this.#endGathering()
    this.#onFinished = () => resume(Effect.void)
    this.#cancelNext?.()
    this.#finish()
  })

  /** Goes on with closing, as far as the log allows by now. */
  #finish(): void {
    let isInTheWay = false
    while (!this.#queue.isEmpty && this.#log.isReady && !isInTheWay) isInTheWay = !this.#runGroup()
    this.#cancelNext?.()
    if (!this.#queue.isEmpty && !isInTheWay) return
    this.#queue.fail(this.#options.failures.closed)
    if (this.#log.unanswered === 0) this.#onFinished?.()
  }

  #scheduleNext(): void {
    if (this.#isClosed || this.#cancelNext !== undefined) return
    if (this.#queue.isEmpty || !this.#log.isReady) return
    // A transaction of their own would cost them and all others more than what they wait for.
    if (this.#queue.size * 2 < this.#log.unanswered) return this.#gather()
    this.#runNext()
  }

  #runNext(): void {
    this.#endGathering()
    const next = setImmediate(() => this.#runGroup())
    this.#cancelNext = () => clearImmediate(next)
  }

  /** Lets the next group grow until the sync that is under way ends, which its commands wait for in any case. */
  #gather(): void {
    this.#gathering ??= setTimeout(() => this.#runNext(), GATHER_MILLIS)
  }

  #endGathering(): void {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
  }

  #scheduleAfterLock(): void {
    this.#lockDelays ??= new LockPatience(this.#options.lockMillis)
    const next = setTimeout(() => this.#runGroup(), this.#lockDelays.nextDelay())
    this.#cancelNext = () => clearTimeout(next)
  }

  /** Runs the next group. Returns false when another process's lock is in the way. */
  #runGroup(): boolean {
    this.#cancelNext = undefined
    if (this.#queue.isEmpty || !this.#log.isReady) return true
    if (this.#log.refusal !== undefined) {
      this.#queue.fail(this.#log.refusal)
      return true
    }
    const startedAt = performance.now()
    const group: Array<Task> = []
    let changes: WorkspaceChanges
    try {
      changes = this.#connection.transaction(() => this.#decide(group))
    } catch (cause) {
      if (isLocked(cause)) return this.#waitForLock(group, cause)
      this.#recover(group, cause)
      return true
    }
    this.#rows.committed(changes)
    this.#moveOn()
    this.#log.answer([...group, this.#timed(group.length, startedAt)])
    return true
  }

  /** Waits beside the commands of a group for it to be durable. */
  #timed(commands: number, startedAt: number): Waiting {
    const { meter } = this.#options
    return {
      answer: () => meter.committed(commands, performance.now() - startedAt),
      fail: () => {},
    }
  }

  #decide(group: Array<Task>): WorkspaceChanges {
    this.#rows.begin(this.#connection.dataVersion())
    this.#log.makeRoom()
    const workspace = new Workspace()
    const endsAt = performance.now() + GROUP_MILLIS
    for (const task of this.#queue) {
      const isFirst = group.length === 0
      if (!isFirst && (task.isAlone || group.length >= GROUP_LIMIT || performance.now() > endsAt)) break
      this.#queue.remove(task)
      group.push(task)
      task.run(workspace, isFirst)
      if (task.isAlone) break
    }
    return this.#rows.persist(workspace)
  }

  #moveOn(): void {
    this.#lockDelays = undefined
    this.#queue.moveUp()
    this.#scheduleNext()
  }

  /** Nothing of the group was kept: finds out whose fault it was, and lets all others try again. */
  #recover(group: ReadonlyArray<Task>, cause: unknown): void {
    const last = group.at(-1)
    if (last === undefined) return this.#failNext(cause)
    if (group.length === 1) {
      this.#moveOn()
      return last.fail(this.#options.failures.toEffect(cause))
    }
    if (cause instanceof NeedsOwnWorkspace) last.isAlone = true
    else {
      this.#options.meter.failed()
      for (const task of group) task.isAlone = true
    }
    this.#queue.putBack(group)
    this.#moveOn()
  }

  /** Not even a transaction could begin: the next command learns why, and the one after it tries again. */
  #failNext(cause: unknown): void {
    const next = this.#queue.shift()
    this.#moveOn()
    next?.fail(this.#options.failures.toEffect(cause))
  }

  #waitForLock(group: ReadonlyArray<Task>, cause: unknown): false {
    this.#queue.putBack(group)
    this.#scheduleAfterLock()
    this.#queue.fail(this.#options.failures.toEffect(cause), (task) => task.patience.isOver)
    return false
  }
}
