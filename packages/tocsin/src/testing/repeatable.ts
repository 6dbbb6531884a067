import { Effect, Random } from "effect"

const SEED = "tocsin"

/**
 * The same random numbers in every run: they depend on the clock and on how many were drawn at that
 * moment, not on how often idle loops drew before.
 */
export const momentRandom = (currentNanos: () => bigint): typeof Random.Random.Service => {
  let moment: bigint | undefined
  let source: typeof Random.Random.Service | undefined
  const ofMoment = () => {
    const now = currentNanos()
    if (source === undefined || moment !== now) {
      moment = now
      source = Effect.runSync(Random.withSeed(Random.Random, `${SEED} ${now}`))
    }
    return source
  }
  return {
    nextIntUnsafe: () => ofMoment().nextIntUnsafe(),
    nextDoubleUnsafe: () => ofMoment().nextDoubleUnsafe(),
  }
}
