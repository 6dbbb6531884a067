import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { LockPatience } from "../connection/whileLocked.ts"

/** A caller's work inside a transaction. `isFirst`: the workspace is unused. */
export type Work<A> = (workspace: Workspace, isFirst: boolean) => A

interface TaskOptions {
  /** Whether it needs its own transaction. */
  readonly isAlone: boolean
  readonly patience: LockPatience
}

/** One caller's work, from its arrival to its answer. */
export interface Task {
  isAlone: boolean
  readonly patience: LockPatience
  /** Does the work; runs again after a rollback. */
  readonly run: (workspace: Workspace, isFirst: boolean) => void
  /** Gives the caller the result of the last run. */
  readonly answer: () => void
  readonly fail: (failure: Effect.Effect<never, StorageError>) => void
}

/** A task for the caller behind `resume`. */
export const makeTask = <A>(
  work: Work<A>,
  resume: (effect: Effect.Effect<A, StorageError>) => void,
  { isAlone, patience }: TaskOptions,
): Task => {
  let reply: Effect.Effect<A> = Effect.never
  return {
    isAlone,
    patience,
    run: (workspace, isFirst) => {
      reply = Effect.succeed(work(workspace, isFirst))
    },
    answer: () => resume(reply),
    fail: resume,
  }
}

/**
 * The most tasks that the storage finishes when it closes; others wait in line for a place. That is
 * five seconds of the largest batches, or a twentieth of a second of heartbeats.
 */
const PLACES = 4_096

/** Tasks that have not run, in their order of arrival. */
export class TaskQueue {
  readonly #placed = new Set<Task>()
  readonly #line = new Set<Task>()

  /** How many have a place. */
  get size(): number {
    return this.#placed.size
  }

  get isEmpty(): boolean {
    return this.#placed.size === 0
  }

  add(task: Task): void {
    const place = this.#placed.size < PLACES ? this.#placed : this.#line
    place.add(task)
  }

  /** Removes a task, if it is still there. */
  remove(task: Task): void {
    if (!this.#placed.delete(task)) this.#line.delete(task)
  }

  /** The tasks with a place; the present one may be removed on the way. */
  [Symbol.iterator](): Iterator<Task> {
    return this.#placed.values()
  }

  /** The next task, removed. */
  shift(): Task | undefined {
    const [next] = this.#placed
    if (next !== undefined) this.#placed.delete(next)
    return next
  }

  /** Gives free places to the tasks in line. */
  moveUp(): void {
    for (const task of this.#line) {
      if (this.#placed.size >= PLACES) break
      this.#line.delete(task)
      this.#placed.add(task)
    }
  }

  /** Puts tasks back at the front. */
  putBack(tasks: ReadonlyArray<Task>): void {
    if (tasks.length === 0) return
    const rest = Array.from(this.#placed)
    this.#placed.clear()
    for (const task of [...tasks, ...rest]) this.#placed.add(task)
  }

  /** Fails and removes the tasks that match `isOver`, in line or not. */
  fail(failure: Effect.Effect<never, StorageError>, isOver: (task: Task) => boolean = () => true): void {
    const over = [...this.#placed, ...this.#line].filter(isOver)
    for (const task of over) this.remove(task)
    for (const task of over) task.fail(failure)
  }
}
