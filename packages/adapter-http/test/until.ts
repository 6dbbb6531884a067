import { Effect } from "effect"

/** Lets the event loop turn until a condition holds. */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const look = (): void => {
      if (condition()) resume(Effect.void)
      else setImmediate(look)
    }
    look()
  })
