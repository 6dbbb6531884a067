import { randomFillSync } from "node:crypto"
import { Ids } from "@tocsin/core/ports/Ids"
import { Layer } from "effect"

const RANDOM_BYTES_PER_ID = 10
const IDS_PER_REFILL = 256
const MICROS_PER_MILLI = 1_000n

/**
 * {@link Ids} from node:crypto: UUIDv7 with 74 random bits (RFC 9562 §5.7). Random bytes are drawn for many ids at
 * once, because a draw costs the same for one as for hundreds.
 */
export const layer: Layer.Layer<Ids> = Layer.sync(Ids, () => {
  const pool = Buffer.alloc(RANDOM_BYTES_PER_ID * IDS_PER_REFILL)
  let used = pool.length
  return Ids.of({
    uuidV7: (now) => {
      if (used === pool.length) {
        randomFillSync(pool)
        used = 0
      }
      const random = pool.subarray(used, used + RANDOM_BYTES_PER_ID)
      used += RANDOM_BYTES_PER_ID
      const time = (now / MICROS_PER_MILLI).toString(16).padStart(12, "0")
      const hex = random.toString("hex")
      // Version 7 in the first digit of the third group, variant 10 in the top bits of the fourth.
      const variant = ((random.readUInt8(2) & 0x3f) | 0x80).toString(16)
      return (
        `${time.slice(0, 8)}-${time.slice(8, 12)}-7${hex.slice(0, 3)}-` +
        `${variant}${hex.slice(6, 8)}-${hex.slice(8, 20)}`
      )
    },
  })
})
