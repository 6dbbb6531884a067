import type { QueueNode } from "@tocsin/core/engine/LinkedQueue"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import type { LockPatience } from "../connection/whileLocked.ts"

/** A caller's work inside a transaction. `isFirst`: the unit of work is unused. */
export type Work<A> = (unit: UnitOfWork, isFirst: boolean) => A

/** The parts of a task besides its work and its caller. */
export interface TaskOptions<Result, A> {
  /** Whether it needs its own transaction. */
  readonly isAlone: boolean
  readonly patience: LockPatience
  /** Makes the reply, once the result is durable, whether or not the caller still waits. */
  readonly replyOf: (result: Result) => A
}

/** One caller's work, from its arrival to its answer. */
export interface Task {
  isAlone: boolean
  /** Where it waits. */
  place: QueueNode | undefined
  readonly patience: LockPatience
  /** Does the work; runs again after a rollback. */
  readonly run: (unit: UnitOfWork, isFirst: boolean) => void
  /** Gives the caller the result of the last run. */
  readonly answer: () => void
  readonly fail: (failure: Effect.Effect<never, StorageError>) => void
}

/** A task for the caller behind `resume`. */
export const makeTask = <Result, A>(
  work: Work<Result>,
  resume: (effect: Effect.Effect<A, StorageError>) => void,
  { isAlone, patience, replyOf }: TaskOptions<Result, A>,
): Task => {
  let result: Result
  return {
    isAlone,
    place: undefined,
    patience,
    run: (unit, isFirst) => {
      result = work(unit, isFirst)
    },
    answer: () => resume(Effect.succeed(replyOf(result))),
    fail: resume,
  }
}
