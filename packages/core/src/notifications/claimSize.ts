import { Duration } from "effect"

/**
 * Items that a claim takes at most beyond those that can be sent at once: each has a lease. A claim of
 * twice as many blocked SQLite for so long that a storm's incidents opened in 30 s instead of 13.
 */
export const MOST_AHEAD = 128

/** How fast a receiver takes what it is sent. */
export interface Pace {
  /** How many attempts may run at the same time. */
  readonly concurrency: number
  /** How many more may begin now. */
  readonly free: number
  /** The longest attempt since the last claim; absent if none ended. */
  readonly slowest: Duration.Duration | undefined
}

/**
 * How many items to claim: those that can be sent now, and as many as the receiver takes within a
 * second. A claim is a transaction, which costs more than an attempt.
 */
export const claimSize = ({ concurrency, free, slowest }: Pace): number => {
  if (slowest === undefined) return free
  const turns = Math.floor(1_000 / Math.max(1, Duration.toMillis(slowest)))
  return free + Math.min(concurrency * turns, MOST_AHEAD)
}
