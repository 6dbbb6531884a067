import { Scheduler } from "effect"

// Kept, because a test may fake the global ones, which then run nothing.
const { clearImmediate, setImmediate } = globalThis

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Runs fibers in real turns: Effect's own scheduler uses whatever timer is global at the moment. */
export const realTurns: Scheduler.Scheduler = new Scheduler.MixedScheduler("async", (run) => {
  const turn = setImmediate(run)
  return () => clearImmediate(turn)
})
