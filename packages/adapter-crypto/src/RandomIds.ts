import { randomFillSync } from "node:crypto"
import { Ids } from "@tocsin/core/ports/Ids"
import { Layer } from "effect"

const RANDOM_BYTES_PER_ID = 10
const DIGITS_PER_ID = 2 * RANDOM_BYTES_PER_ID
const IDS_PER_REFILL = 256
const MICROS_PER_MILLI = 1_000n

/** The digits whose top bits are 10. */
const VARIANT = "89ab"

/** The first two groups: milliseconds since 1970 in 48 bits. */
const timeOf = (millis: bigint): string => {
  const digits = millis.toString(16).padStart(12, "0")
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/**
 * {@link Ids} from node:crypto: UUIDv7 with 74 random bits (RFC 9562 §5.7). Random bytes are drawn, and turned
 * into digits, for many ids at once, because that costs the same for one as for hundreds.
 */
export const layer: Layer.Layer<Ids> = Layer.sync(Ids, () => {
  const pool = Buffer.alloc(RANDOM_BYTES_PER_ID * IDS_PER_REFILL)
  let random = ""
  let used = 0
  let time = timeOf(0n)
  let millis = 0n
  return Ids.of({
    uuidV7: (now) => {
      if (used === random.length) {
        random = randomFillSync(pool).toString("hex")
        used = 0
      }
      const at = used
      used += DIGITS_PER_ID
      // The bits of a digit that is not used otherwise.
      const twoBits = Number.parseInt(random.charAt(at + 3), 16) % VARIANT.length
      const itsMillis = now / MICROS_PER_MILLI
      if (itsMillis !== millis) {
        millis = itsMillis
        time = timeOf(millis)
      }
      // Version 7 in the first digit of the third group, variant 10 in the top bits of the fourth.
      return (
        `${time}-7${random.slice(at, at + 3)}-${VARIANT.charAt(twoBits)}${random.slice(at + 5, at + 8)}-` +
        random.slice(at + 8, used)
      )
    },
  })
})
