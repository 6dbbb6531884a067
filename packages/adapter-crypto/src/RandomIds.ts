import { randomBytes, randomFillSync } from "node:crypto"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Layer } from "effect"

const RANDOM_BYTES_PER_ID = 6
const IDS_PER_REFILL = 1_024
const MICROS_PER_MILLI = 1_000n
const SECRET_BYTES = 32

/** The counter fills the third and fourth group, except for version and variant. */
const LOW_BITS = 14
const COUNTER_LIMIT = 2 ** (12 + LOW_BITS)

/** The counter starts in its lower half, so that the upper half is left for one millisecond. */
const SEED_LIMIT = COUNTER_LIMIT / 2

/** The first two groups: milliseconds since 1970 in 48 bits. */
const timeOf = (millis: bigint): string => {
  const digits = millis.toString(16).padStart(12, "0")
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

const UPPER_AT = 14
const LOWER_AT = 19
const RANDOM_AT = 24
const DIGITS = Buffer.from("0123456789abcdef")

/**
 * {@link Ids} from node:crypto: UUIDv7 with a counter of 26 bits and 48 random bits (RFC 9562 §6.2,
 * method 1). The counter starts at random in each millisecond. If the clock stands still or goes
 * back, the time stays and the counter increases. Random digits are drawn for many IDs at a time,
 * which costs as much as for one.
 */
export const layer: Layer.Layer<Ids> = Layer.sync(Ids, () => {
  const pool = Buffer.alloc(RANDOM_BYTES_PER_ID * IDS_PER_REFILL)
  let used = pool.length
  let millis = -1n
  let latest = -1n
  let counter = 0
  // Texts of one piece: those that are joined are compared and stored in twice the time.
  const text = Buffer.from("00000000-0000-7000-8000-000000000000")

  const randomBytesFrom = (): number => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += RANDOM_BYTES_PER_ID
    return used - RANDOM_BYTES_PER_ID
  }

  const startMillisecond = (next: bigint): void => {
    millis = next
    text.write(timeOf(next), "latin1")
    counter = pool.readUInt32BE(randomBytesFrom()) % SEED_LIMIT
  }

  const writeFour = (at: number, bits: number): void => {
    for (let place = 0; place < 4; place += 1) text[at + place] = DIGITS[(bits >> (12 - 4 * place)) & 15] ?? 0
  }

  return Ids.of({
    uuidV7: (now) => {
      // Many IDs are made at one instant, and dividing costs as much as the rest.
      const next = now === latest ? millis : now / MICROS_PER_MILLI
      latest = now
      if (next > millis) startMillisecond(next)
      else if (counter + 1 < COUNTER_LIMIT) counter += 1
      else startMillisecond(millis + 1n)
      // Version 7 and the counter's upper bits, variant 10 and its lower bits.
      writeFour(UPPER_AT, 0x7000 | (counter >> LOW_BITS))
      writeFour(LOWER_AT, 0x8000 | (counter & (2 ** LOW_BITS - 1)))
      const random = randomBytesFrom()
      for (let place = 0; place < RANDOM_BYTES_PER_ID / 2; place += 1)
        writeFour(RANDOM_AT + 4 * place, pool.readUInt16BE(random + 2 * place))
      return text.toString("latin1")
    },
    secret: () => randomBytes(SECRET_BYTES).toString("base64url"),
  })
})
