import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Effect } from "effect"
import type { Task } from "./Task.ts"

/**
 * How many tasks are the storage's to finish when it is closed; others wait in line for a place. Five seconds' worth of the
 * largest batches, a twentieth of a second of heartbeats.
 */
const PLACES = 4_096

/** Tasks that have not run, in the order of their arrival. */
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

  /** Takes a task out, if it is still there. */
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

  /** Gives the places that became free to those who wait in line. */
  moveUp(): void {
    for (const task of this.#line) {
      if (this.#placed.size >= PLACES) break
      this.#line.delete(task)
      this.#placed.add(task)
    }
  }

  /** Puts tasks back before all others. */
  putBack(tasks: ReadonlyArray<Task>): void {
    if (tasks.length === 0) return
    const rest = Array.from(this.#placed)
    this.#placed.clear()
    for (const task of [...tasks, ...rest]) this.#placed.add(task)
  }

  /** Fails and removes the tasks that `isOver` tells, in line or not. */
  fail(failure: Effect.Effect<never, StorageError>, isOver: (task: Task) => boolean = () => true): void {
    const over = [...this.#placed, ...this.#line].filter(isOver)
    for (const task of over) this.remove(task)
    for (const task of over) task.fail(failure)
  }
}
