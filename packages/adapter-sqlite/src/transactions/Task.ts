import type { Place } from "@tocsin/core/engine/Line"
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
  /** Where it waits. */
  place: Place | undefined
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
    place: undefined,
    patience,
    run: (workspace, isFirst) => {
      reply = Effect.succeed(work(workspace, isFirst))
    },
    answer: () => resume(reply),
    fail: resume,
  }
}
