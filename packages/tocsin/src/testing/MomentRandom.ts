import { Effect, Random } from "effect"

const SEED = "tocsin"

/**
 * Random numbers that are the same in every run: they follow from the moment and from how many were drawn at it. So they do
 * not depend on how many idle loops drew some before.
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
