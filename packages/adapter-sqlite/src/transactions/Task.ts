import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { LockPatience } from "../connection/LockPatience.ts"

/** What a caller wants done inside a transaction. `isFirst`: nothing else has used the workspace. */
export type Work<A> = (workspace: Workspace, isFirst: boolean) => A

interface TaskOptions {
  /** Whether it must have a transaction to itself. */
  readonly isAlone: boolean
  readonly patience: LockPatience
}

/** One caller's work, from its arrival to its answer. */
export interface Task {
  isAlone: boolean
  readonly patience: LockPatience
  /** Does the work; may be repeated after a transaction that was rolled back. */
  readonly run: (workspace: Workspace, isFirst: boolean) => void
  /** Gives the caller what the last run returned. */
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
