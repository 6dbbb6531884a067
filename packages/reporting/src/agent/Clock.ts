/** The clocks of a host. Tests bring clocks of their own. */
export interface Clock {
  /** Milliseconds since 1970. It steps when somebody sets it. */
  readonly wall: () => number
  /** Milliseconds that never step, and stop while the host is suspended. Timers follow it. */
  readonly steady: () => number
  /** Milliseconds since the host booted, suspended time included. It never steps. */
  readonly sinceBoot: () => number
}
