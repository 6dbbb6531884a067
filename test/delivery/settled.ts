import { Effect } from "effect"

// Far more hops than any chain of fibers here takes until all of them wait.
const HOPS = 500

/** Lets all fibers run until they wait; the clock stands still. */
export const settled: Effect.Effect<void> = Effect.forEach(
  Array.from({ length: HOPS }),
  () => Effect.yieldNow,
  {
    discard: true,
  },
)
