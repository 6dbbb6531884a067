import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { LockPatience, realDelay } from "./LockPatience.ts"
import { isLocked, type SqliteFailures } from "./SqliteFailures.ts"

/** Who explains what is thrown, and how long another process's lock is waited for. */
export interface LockOptions {
  readonly failures: SqliteFailures
  readonly lockMillis: number
}

/**
 * Does something on a connection at once; where another process has locked the file, again and again until the lock is
 * gone or time is up (`in_use`). The event loop is free in between.
 */
export const whileLocked = <A>(use: () => A, options: LockOptions): Effect.Effect<A, StorageError> =>
  Effect.suspend(() => attempt(use, options, new LockPatience(options.lockMillis)))

const attempt = <A>(
  use: () => A,
  options: LockOptions,
  patience: LockPatience,
): Effect.Effect<A, StorageError> => {
  try {
    return Effect.succeed(use())
  } catch (cause) {
    if (!isLocked(cause) || patience.isOver) return options.failures.toEffect(cause)
    const again = Effect.suspend(() => attempt(use, options, patience))
    return Effect.andThen(realDelay(patience.nextDelay()), again)
  }
}
