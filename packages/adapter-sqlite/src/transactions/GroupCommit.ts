import { LinkedQueue, type QueueNode } from "@tocsin/core/kernel/engine/LinkedQueue"
import type { CommitMeter } from "@tocsin/core/kernel/engine/metrics/Instruments"
import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import type { Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { type LockOptions, LockPatience, isLocked } from "../connection/SqliteFailures.ts"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import type { Waiting, WriteAheadLog } from "../log/WriteAheadLog.ts"
import { persistChanges } from "./persistChanges.ts"
import type { RowCache } from "../cache/RowCache.ts"
import type { GroupTime } from "./GroupTime.ts"

/** Sharing a sync with more commands gains nothing. */
const GROUP_LIMIT = 256

/** Unchanged results are written as fast as they are decided; changed ones take three times as long. */
const MOST_DECIDING = 0.5

/** After a group that took longer, other work has some turns of the event loop. */
const LONG_MILLIS = 5

/** After a long group, lets this many turns of the event loop pass (a list needs several), or as much time. */
const TURNS_AFTER = 4

/** How long a few commands wait for the sync in progress, to join later ones. */
const GATHER_MILLIS = 2

type Work<A> = (unit: UnitOfWork) => A

type Resume<A> = (ended: Effect.Effect<A, StorageError>) => void

/** One caller's work, from its arrival to its answer, which is the result of the last run. */
interface Task extends Waiting {
  /** Whether it needs its own transaction. */
  isAlone: boolean
  place: QueueNode | undefined
  readonly patience: LockPatience
  /** Does the work; runs again after a rollback. */
  readonly run: (unit: UnitOfWork) => void
}

interface GroupCommitOptions extends LockOptions {
  readonly log: WriteAheadLog
  readonly rows: RowCache
  readonly meter: CommitMeter
  readonly time: GroupTime
}

/**
 * The commands since the last commit are one transaction, answered once durable. A failed group is repeated one
 * command at a time, so that no command fails because of another. docs/architecture.md#group-commit-on-sqlite draws
 * the states of a command. Between two groups it is in one mode:
 *
 * - idle: no command waits, or the log takes no more before a sync has ended
 * - due: a group begins in the next turn of the event loop; after a long group, up to 4 turns later
 * - gathering: few commands wait while a sync is in progress, and they wait 2 ms for others
 * - locked: another process writes to the file, and the group is tried again after a pause
 * - closed: what waits is written, and new commands are refused
 */
export class GroupCommit {
  readonly #connection: SqliteConnection
  readonly #options: GroupCommitOptions
  readonly #log: WriteAheadLog
  readonly #rows: RowCache
  readonly #queue = new LinkedQueue<Task>()
  #cancelNext: (() => void) | undefined
  #gathering: NodeJS.Timeout | undefined
  #lockDelays: LockPatience | undefined
  /** The part of the last group's time that deciding took. */
  #decidingPart = MOST_DECIDING
  /** How long the last group took, and when it ended. */
  #lastMillis = 0
  #lastEndedAt = -Infinity
  /** Since when the next group waits for its turn. */
  #dueSince = -Infinity
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

  /** Reports the outcome and answers once it is durable. Returns how to withdraw work that has not run. */
  submit<A>(work: Work<Outcome<A>>, isAlone: boolean, resume: Resume<A>): () => void {
    return this.#submit(work, isAlone, (outcome) => resume(Effect.succeed(outcome.committed())), resume)
  }

  /** Runs work in its own transaction, and answers with its result when that is durable. */
  submitAlone<A>(work: Work<A>): Effect.Effect<A, StorageError> {
    return Effect.callback((resume) => {
      const withdraw = this.#submit(work, true, (result) => resume(Effect.succeed(result)), resume)
      return Effect.sync(withdraw)
    })
  }

  #submit<Result>(
    work: Work<Result>,
    isAlone: boolean,
    answer: (result: Result) => void,
    fail: Resume<never>,
  ): () => void {
    if (this.#isClosed) {
      fail(this.#options.failures.closed)
      return () => {}
    }
    let result: Result
    const task: Task = {
      isAlone,
      place: undefined,
      patience: new LockPatience(this.#options.lockMillis),
      run: (unit) => {
        result = work(unit)
      },
      answer: () => answer(result),
      fail,
    }
    task.place = this.#queue.add(task)
    this.#scheduleNext()
    return () => task.place?.leave()
  }

  /** Finishes the queue and refuses later work. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#isClosed = true
    this.#endGathering()
    this.#onFinished = () => resume(Effect.void)
    this.#cancelNext?.()
    this.#finish()
  })

  #finish(): void {
    let isInTheWay = false
    while (this.#queue.size > 0 && this.#log.isReady && !isInTheWay) isInTheWay = !this.#runGroup()
    this.#cancelNext?.()
    if (this.#queue.size > 0 && !isInTheWay) return
    this.#fail(this.#options.failures.closed)
    if (this.#log.unanswered === 0) this.#onFinished?.()
  }

  #scheduleNext(): void {
    if (this.#isClosed || this.#cancelNext !== undefined) return
    if (this.#queue.size === 0 || !this.#log.isReady) return
    // Their own transaction would cost more time than the wait.
    if (this.#queue.size * 2 < this.#log.unanswered) return this.#gather()
    this.#runNext()
  }

  #runNext(): void {
    this.#endGathering()
    this.#dueSince = performance.now()
    this.#runAfter(this.#lastMillis > LONG_MILLIS ? TURNS_AFTER : 1)
  }

  #runAfter(turns: number): void {
    const next = setImmediate(() => {
      const isEarly = turns > 1 && performance.now() < this.#lastEndedAt + this.#lastMillis
      if (isEarly) this.#runAfter(turns - 1)
      else this.#runGroup()
    })
    this.#cancelNext = () => clearImmediate(next)
  }

  /** Lets the next group grow until the sync in progress ends, which it waits for anyway. */
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

  /** Runs the next group. Returns false if another process has locked the file. */
  #runGroup(): boolean {
    this.#cancelNext = undefined
    if (this.#queue.size === 0 || !this.#log.isReady) return true
    if (this.#log.refusal !== undefined) {
      this.#fail(this.#log.refusal)
      return true
    }
    const startedAt = performance.now()
    const group: Array<Task> = []
    let changes: UnitOfWorkChanges
    try {
      changes = this.#write(group, startedAt)
    } catch (cause) {
      if (isLocked(cause)) return this.#waitForLock(group, cause)
      this.#recover(group, cause)
      return true
    }
    this.#rows.apply(changes)
    this.#moveOn()
    this.#log.answer([...group, this.#timed(group.length, startedAt)])
    return true
  }

  #timed(commands: number, startedAt: number): Waiting {
    const { meter } = this.#options
    return {
      answer: () => meter.committed(commands, performance.now() - startedAt),
      fail: () => {},
    }
  }

  #write(group: Array<Task>, startedAt: number): UnitOfWorkChanges {
    const millis = this.#options.time.ofGroup(startedAt, this.#dueSince)
    try {
      return this.#connection.transaction(() => this.#decide(group, millis))
    } finally {
      this.#lastEndedAt = performance.now()
      this.#lastMillis = this.#lastEndedAt - startedAt
    }
  }

  #decide(group: Array<Task>, millis: number): UnitOfWorkChanges {
    this.#rows.begin(this.#log.begin())
    const unit = openUnit()
    const startedAt = performance.now()
    const endsAt = startedAt + millis * this.#decidingPart
    for (let task = this.#queue.first; task !== undefined; task = this.#queue.first) {
      const isFirst = group.length === 0
      if (!isFirst && (task.isAlone || group.length >= GROUP_LIMIT || performance.now() > endsAt)) break
      this.#queue.take()
      group.push(task)
      task.run(unit)
      if (task.isAlone) break
    }
    const decidedAt = performance.now()
    const changes = persistChanges(this.#rows.tables, unit)
    const part = (decidedAt - startedAt) / (performance.now() - startedAt)
    this.#decidingPart = Math.min(MOST_DECIDING, part)
    return changes
  }

  #moveOn(): void {
    this.#lockDelays = undefined
    this.#scheduleNext()
  }

  /** Nothing of the group was kept: finds the failing command, and repeats the others. */
  #recover(group: ReadonlyArray<Task>, cause: unknown): void {
    const [only, ...others] = group
    if (only === undefined) return this.#failNext(cause)
    if (others.length === 0) {
      this.#moveOn()
      return only.fail(this.#options.failures.toEffect(cause))
    }
    this.#options.meter.failed()
    for (const task of group) task.isAlone = true
    this.#putBack(group)
    this.#moveOn()
  }

  /** The transaction could not begin: the next command fails, and the one after it tries again. */
  #failNext(cause: unknown): void {
    const next = this.#queue.take()
    this.#moveOn()
    next?.fail(this.#options.failures.toEffect(cause))
  }

  #waitForLock(group: ReadonlyArray<Task>, cause: unknown): false {
    this.#putBack(group)
    this.#scheduleAfterLock()
    this.#fail(this.#options.failures.toEffect(cause), (task) => task.patience.isOver)
    return false
  }

  #putBack(group: ReadonlyArray<Task>): void {
    for (const task of group.toReversed()) task.place = this.#queue.addFirst(task)
  }

  #fail(failure: Effect.Effect<never, StorageError>, isOver: (task: Task) => boolean = () => true): void {
    const over = Array.from(this.#queue).filter(isOver)
    for (const task of over) task.place?.leave()
    for (const task of over) task.fail(failure)
  }
}
