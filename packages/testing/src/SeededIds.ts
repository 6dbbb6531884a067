import { createHash } from "node:crypto"
import { Ids } from "@tocsin/core/ports/Ids"
import { Layer } from "effect"

const MICROS_PER_MILLI = 1_000n

/**
 * {@link Ids} that two storages draw alike: the n-th id depends on `seed`, n and the clock alone. Ids of one millisecond
 * are in no order, as those of the real source.
 */
export const layer = (seed: string): Layer.Layer<Ids> =>
  Layer.sync(Ids, () => {
    let drawn = 0
    return Ids.of({
      uuidV7: (now) => {
        drawn += 1
        return uuidV7(now / MICROS_PER_MILLI, `${seed}/${drawn}`)
      },
    })
  })

/** A UUIDv7 of a number of milliseconds since 1970; `name` stands in for its random bits. */
export const uuidV7 = (millis: bigint, name: string): string => {
  const time = millis.toString(16).padStart(12, "0")
  const hex = createHash("sha256").update(name).digest("hex")
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(0), 16) % 4)
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${hex.slice(1, 4)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
}
