import { Effect } from "effect"

const FIRST_DELAY_MILLIS = 1
// Long enough to leave a processor alone, short enough to get a turn between the commits of a busy writer.
const LONGEST_DELAY_MILLIS = 25

/**
 * How long one caller waits for another process's lock. In real time, whatever clock the rules run on: the other process
 * has no other.
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
