import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { isLocked, type SqliteFailures } from "./SqliteFailures.ts"

const FIRST_DELAY_MILLIS = 1
// Long enough to leave a processor alone, short enough for a turn between a busy writer's commits.
const LONGEST_DELAY_MILLIS = 25

/** How failures are explained, and how long to wait for another process's lock. */
export interface LockOptions {
  readonly failures: SqliteFailures
  readonly lockMillis: number
}

/**
 * One caller's wait for another process's lock. It runs in real time, whatever the clock of the
 * rules, because the other process does.
 */
export class LockPatience {
  readonly #endsAt: number
  #delay = FIRST_DELAY_MILLIS

  constructor(millis: number) {
    this.#endsAt = performance.now() + millis
  }

  /** Whether the time is up. */
  get isOver(): boolean {
    return performance.now() >= this.#endsAt
  }

  /** How long to wait before the next attempt, in milliseconds: longer each time. */
  nextDelay(): number {
    const delay = this.#delay
    this.#delay = Math.min(delay * 2, LONGEST_DELAY_MILLIS)
    return delay
  }
}

/** Waits for real milliseconds. */
export const realDelay = (millis: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * Uses a connection immediately. While another process locks the file it retries, without blocking
 * the event loop, and fails (`in_use`) when the time is up.
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
