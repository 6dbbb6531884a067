import { Scheduler } from "effect"

// Kept, because a test may fake the global ones, which then run nothing.
const { clearImmediate, clearTimeout, setImmediate, setTimeout } = globalThis

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Resolves once the promise does, or with `late` after real time. */
export const within = <A>(millis: number, promise: Promise<A>): Promise<A | "late"> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), millis)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Runs fibers in real turns: Effect's own scheduler uses whatever timer is global at the moment. */
export const realTurns: Scheduler.Scheduler = new Scheduler.MixedScheduler("async", (run) => {
  const turn = setImmediate(run)
  return () => clearImmediate(turn)
})
