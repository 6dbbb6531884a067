import { Effect } from "effect"

/** Looks again each millisecond until a condition holds. */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const look = (): void => {
      if (condition()) resume(Effect.void)
      else setTimeout(look, 1)
    }
    look()
  })
