/** So many reads of details at a time leave connections for what the page needs first. */
const AT_A_TIME = 2

interface Waiting {
  readonly run: () => Promise<void>
  readonly signal: AbortSignal
}

/** Nothing is read while rows come into sight this quickly: their reader only scrolls past. */
const QUIET_MILLIS = 150

const waiting: Array<Waiting> = []
let running = 0
let lastAt = 0
let isWatched = false

const next = (): void => {
  while (running < AT_A_TIME) {
    // The newest first: it is what the reader sees now.
    const task = waiting.pop()
    if (task === undefined) return
    if (task.signal.aborted) continue
    running += 1
    void task.run().finally(() => {
      running -= 1
      next()
    })
  }
}

const startWhenQuiet = (): void => {
  const left = lastAt + QUIET_MILLIS - performance.now()
  isWatched = left > 0
  if (isWatched) setTimeout(startWhenQuiet, left)
  else next()
}

/** Carries out reads of details, a few at a time, unless they were aborted while they waited. */
export const whenFree = (run: () => Promise<void>, signal: AbortSignal): void => {
  waiting.push({ run, signal })
  lastAt = performance.now()
  if (!isWatched) startWhenQuiet()
}
