import type { Ids } from "../ports/Ids.ts"

const MICROS_PER_MILLI = 1_000n

/** Ids that are the same each time: UUIDs version 7 of the simulated time, whose random part counts from 1. */
export const countingIds = (): Ids["Service"] => {
  let drawn = 0
  return {
    uuidV7: (now) => {
      drawn += 1
      const time = (now / MICROS_PER_MILLI).toString(16).padStart(12, "0")
      return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${drawn.toString(16).padStart(12, "0")}`
    },
  }
}
