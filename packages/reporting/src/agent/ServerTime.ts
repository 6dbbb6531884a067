/** The clocks of a host. Tests bring clocks of their own. */
export interface Clock {
  /** Milliseconds since 1970. It steps when the clock is set. */
  readonly wall: () => number
  /** Milliseconds that never step, and stop while the host is suspended. Timers follow it. */
  readonly steady: () => number
  /** Milliseconds since the host booted, suspended time included. It never steps. */
  readonly sinceBoot: () => number
}

/** A moment by the server's clock, and when it was by the time since boot of this host. */
export interface TimeMark {
  readonly server: number
  readonly sinceBoot: number
  /** Identifies the boot: a mark of an earlier one says nothing. */
  readonly boot: string
}

/** A difference up to this is left alone: `Date` has whole seconds, and answers take time. */
const TOLERATED_MILLIS = 5_000

/** An answer that took longer says too little about the time of its `Date`. */
const SLOWEST_ANSWER_MILLIS = 10_000

/** `Date` is cut to the second, so the true time is half a second later on average. */
const HALF_SECOND = 500

/** Makes a mark from an answer's `Date`, which the server wrote between the request and the answer. */
export const markOf = (
  date: string,
  answer: { readonly sinceBoot: number; readonly tookMillis: number; readonly boot: string },
): TimeMark | undefined => {
  const server = Date.parse(date)
  if (Number.isNaN(server) || answer.tookMillis > SLOWEST_ANSWER_MILLIS) return undefined
  const middle = answer.sinceBoot - answer.tookMillis / 2
  return { server: server + HALF_SECOND, sinceBoot: middle, boot: answer.boot }
}

/** The server's time by the last mark: it survives clock steps and suspends of this host. */
const serverNow = (mark: TimeMark, clock: Clock): number => mark.server + clock.sinceBoot() - mark.sinceBoot

/** How far the wall clock is ahead of the server's, in milliseconds. */
export const clockOffset = (mark: TimeMark | undefined, clock: Clock): number | undefined =>
  mark === undefined ? undefined : Math.round(clock.wall() - serverNow(mark, clock))

/** The time to report: the wall clock's, or the server's where the wall clock is off. */
export const correctedNow = (mark: TimeMark | undefined, clock: Clock): number => {
  const offset = clockOffset(mark, clock)
  const wall = Math.floor(clock.wall())
  return offset === undefined || Math.abs(offset) <= TOLERATED_MILLIS ? wall : wall - offset
}

/** Whether the wall clock is off by more than the server tolerates unnoticed. */
export const isClockOff = (offset: number | undefined): boolean =>
  offset !== undefined && Math.abs(offset) > TOLERATED_MILLIS
