import { randomBytes, randomFillSync } from "node:crypto"
import { Ids } from "@tocsin/core/ports/Ids"
import { Layer } from "effect"

const RANDOM_BYTES_PER_ID = 6
const DIGITS_PER_ID = 2 * RANDOM_BYTES_PER_ID
const IDS_PER_REFILL = 256
const MICROS_PER_MILLI = 1_000n
const SECRET_BYTES = 32

/** The counter fills the third and fourth group, except for version and variant. */
const LOW_BITS = 14
const COUNTER_LIMIT = 2 ** (12 + LOW_BITS)

/** The counter starts in its lower half, so that the upper half is left for one millisecond. */
const SEED_LIMIT = COUNTER_LIMIT / 2
const SEED_DIGITS = 7

/** The first two groups: milliseconds since 1970 in 48 bits. */
const timeOf = (millis: bigint): string => {
  const digits = millis.toString(16).padStart(12, "0")
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/** The next two groups: version 7 and the counter's upper bits, variant 10 and its lower bits. */
const countOf = (counter: number): string => {
  const upper = 0x7000 | (counter >> LOW_BITS)
  const lower = 0x8000 | (counter & (2 ** LOW_BITS - 1))
  return `${upper.toString(16)}-${lower.toString(16)}`
}

/**
 * {@link Ids} from node:crypto: UUIDv7 with a counter of 26 bits and 48 random bits (RFC 9562 §6.2,
 * method 1). The counter starts at random in each millisecond. If the clock stands still or goes
 * back, the time stays and the counter increases. Random digits are drawn for many IDs at a time,
 * which costs as much as for one.
 */
export const layer: Layer.Layer<Ids> = Layer.sync(Ids, () => {
  const pool = Buffer.alloc(RANDOM_BYTES_PER_ID * IDS_PER_REFILL)
  let random = ""
  let used = 0
  let millis = -1n
  let time = timeOf(0n)
  let counter = 0

  const randomDigits = (): string => {
    if (used === random.length) {
      random = randomFillSync(pool).toString("hex")
      used = 0
    }
    used += DIGITS_PER_ID
    return random.slice(used - DIGITS_PER_ID, used)
  }

  const startMillisecond = (next: bigint): void => {
    millis = next
    time = timeOf(next)
    counter = Number.parseInt(randomDigits().slice(0, SEED_DIGITS), 16) % SEED_LIMIT
  }

  return Ids.of({
    uuidV7: (now) => {
      const next = now / MICROS_PER_MILLI
      if (next > millis) startMillisecond(next)
      else if (counter + 1 < COUNTER_LIMIT) counter += 1
      else startMillisecond(millis + 1n)
      return `${time}-${countOf(counter)}-${randomDigits()}`
    },
    secret: () => randomBytes(SECRET_BYTES).toString("base64url"),
  })
})
