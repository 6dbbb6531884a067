import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { uptime } from "node:os"

const LOOK_MILLIS = 1_000
/** An event loop that looks each second and is busy for less does not stand still. */
const STANDSTILL_MILLIS = 2_000

/**
 * A clock whose steady time leaves out the standstills of this process, as after SIGSTOP or in a paused
 * machine. What arrived meanwhile is read after a standstill, so it counts for no time limit. It looks at
 * the other clock until it is stopped.
 */
export const awakeClock = (clock: Clock) => {
  let [seenAt, lost] = [clock.steady(), 0]
  const steady = (): number => {
    const now = clock.steady()
    if (now - seenAt > STANDSTILL_MILLIS) lost += now - seenAt
    seenAt = now
    return now - lost
  }
  const timer = setInterval(steady, LOOK_MILLIS).unref()
  return { ...clock, steady, stop: () => clearInterval(timer) }
}

/** Acts once a time has passed on a clock. Returns what prevents it. */
export const afterMillis = (clock: Clock, millis: number, act: () => void): (() => void) => {
  const due = clock.steady() + millis
  const look = (): void => {
    const left = due - clock.steady()
    if (left > 0) timer = setTimeout(look, left)
    else act()
  }
  let timer = setTimeout(look, millis)
  return () => clearTimeout(timer)
}

/** The value of some work, or `undefined` once a time has passed on a clock. */
export const byMillis = <A>(clock: Clock, millis: number, work: Promise<A>): Promise<A | undefined> => {
  let cancel = (): void => {}
  const late = new Promise<undefined>((resolve) => {
    cancel = afterMillis(clock, millis, () => resolve(undefined))
  })
  return Promise.race([work, late]).finally(cancel)
}

const MILLIS_PER_SECOND = 1_000

export const systemClock: Clock = {
  // oxlint-disable-next-line eslint/no-restricted-properties -- the one place that reads the wall clock
  wall: () => Date.now(),
  steady: () => performance.now(),
  sinceBoot: () => uptime() * MILLIS_PER_SECOND,
}
