import { createHash } from "node:crypto"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Layer } from "effect"

const MICROS_PER_MILLI = 1_000n

/**
 * {@link Ids} that two storages draw alike: the n-th id depends on `seed`, n and the clock alone.
 * They increase strictly, as those of the real source.
 */
export const layer = (seed: string): Layer.Layer<Ids> =>
  Layer.sync(Ids, () => {
    let drawn = 0
    let latest = 0n
    return Ids.of({
      uuidV7: (now) => {
        drawn += 1
        const millis = now / MICROS_PER_MILLI
        if (millis > latest) latest = millis
        return format(latest, drawn, `${seed}/${drawn}`)
      },
      secret: () => {
        drawn += 1
        return createHash("sha256").update(`${seed}/${drawn}`).digest("base64url")
      },
    })
  })

/** A UUIDv7 of a number of milliseconds since 1970; `name` stands in for its random bits. */
export const uuidV7 = (millis: bigint, name: string): string =>
  format(millis, Number.parseInt(digest(name).slice(0, 6), 16), name)

const digest = (name: string): string => createHash("sha256").update(name).digest("hex")

/** A UUIDv7 with a counter of 26 bits behind its time; digits of `name` end it. */
const format = (millis: bigint, counter: number, name: string): string => {
  const time = millis.toString(16).padStart(12, "0")
  const upper = 0x7000 | (counter >> 14)
  const lower = 0x8000 | (counter & 0x3fff)
  const rest = digest(name).slice(7, 19)
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-${upper.toString(16)}-${lower.toString(16)}-${rest}`
}
