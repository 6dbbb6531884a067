import { Effect } from "effect"

// Far more steps than any chain of fibers in these tests takes until all of them wait.
const STEPS = 500

/** Lets all fibers run until they wait, while the clock stands still. */
export const settled: Effect.Effect<void> = Effect.forEach(
  Array.from({ length: STEPS }),
  () => Effect.yieldNow,
  { discard: true },
)
