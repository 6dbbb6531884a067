import { Ids } from "@tocsin/core/ports/Ids"
import { Layer } from "effect"

const MICROS_PER_MILLI = 1_000n

/** Ids that are the same in every run: UUIDs version 7 of the clock's time, whose random part counts from 1. */
export const layer: Layer.Layer<Ids> = Layer.sync(Ids, () => {
  let drawn = 0
  return Ids.of({
    uuidV7: (now) => {
      drawn += 1
      const time = (now / MICROS_PER_MILLI).toString(16).padStart(12, "0")
      return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${drawn.toString(16).padStart(12, "0")}`
    },
  })
})
