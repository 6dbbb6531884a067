import { signal } from "@preact/signals"

let ahead = 0

/** The time of the service. `performance.now()` stands still while the computer sleeps. */
// oxlint-disable-next-line eslint/no-restricted-properties -- the one place of the console that reads the wall clock
const read = (): number => Date.now() + ahead

/** An answer takes time, so that a clock that is right seems to differ by a little. */
const TOLERATED_MILLIS = 5_000

/** Follows the service's clock, by the time of one of its answers, where the computer's is wrong. */
export const followService = (at: number): void => {
  const difference = at - read()
  if (Math.abs(difference) <= TOLERATED_MILLIS) return
  ahead += difference
  tick()
}

/** The time that relative times are relative to; it moves each second while the page is seen. */
export const now = signal(read())

export const tick = (): void => void (now.value = read())
