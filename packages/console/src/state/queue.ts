/** So many reads of details at a time leave connections for what the page needs first. */
const AT_A_TIME = 2

interface Waiting {
  readonly run: () => Promise<void>
  readonly signal: AbortSignal
}

const waiting: Array<Waiting> = []
let running = 0

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

/** Carries out reads of details, a few at a time, unless they were aborted while they waited. */
export const whenFree = (run: () => Promise<void>, signal: AbortSignal): void => {
  waiting.push({ run, signal })
  queueMicrotask(next)
}
