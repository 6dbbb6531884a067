import { Ids } from "@tocsin/core/ports/Ids"
import { Effect, Layer, Random } from "effect"

const MICROS_PER_MILLI = 1_000n

/**
 * The same ids in every run: UUIDs version 7 of the clock's time, whose random part counts from 1.
 */
export const countingIds: Layer.Layer<Ids> = Layer.sync(Ids, () => {
  let drawn = 0
  return Ids.of({
    uuidV7: (now) => {
      drawn += 1
      const time = (now / MICROS_PER_MILLI).toString(16).padStart(12, "0")
      return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${drawn.toString(16).padStart(12, "0")}`
    },
  })
})

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
