import { uptime } from "node:os"

/** The clocks of a host. Tests bring clocks of their own. */
export interface Clock {
  /** Milliseconds since 1970. It steps when somebody sets it. */
  readonly wall: () => number
  /** Milliseconds that never step, and stop while the host is suspended. Timers follow it. */
  readonly steady: () => number
  /** Milliseconds since the host booted, suspended time included. It never steps. */
  readonly sinceBoot: () => number
}

const MILLIS_PER_SECOND = 1_000

export const systemClock: Clock = {
  // oxlint-disable-next-line eslint/no-restricted-properties -- the one place that reads the wall clock
  wall: () => Date.now(),
  steady: () => performance.now(),
  sinceBoot: () => uptime() * MILLIS_PER_SECOND,
}
