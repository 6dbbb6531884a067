import { Context } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"

export class Ids extends Context.Service<
  Ids,
  {
    /**
     * A new UUIDv7 in lower case (RFC 9562), unique, with the time of `now`. IDs of one source
     * increase strictly, so that lists show what one transaction makes in its order; if `now` does
     * not advance, they keep the time of the previous ID.
     */
    readonly uuidV7: (now: Instant) => string
    /** A new secret: 32 random bytes in 43 characters of base64url. */
    readonly secret: () => string
  }
>()("@tocsin/core/kernel/ports/Ids") {}

export const newId =
  <Id extends string>(ids: Ids["Service"]) =>
  (now: Instant): Id =>
    // The port promises valid IDs; a schema would check each again.
    ids.uuidV7(now) as Id

const MICROS_PER_MILLI = 1_000n
/** 32 bytes in base64url. */
const SECRET_LENGTH = 43

/** Reproducible IDs: UUIDs version 7 with a counter as random part, for tests and simulations. */
export const countingIds = (): Ids["Service"] => {
  let drawn = 0
  return {
    uuidV7: (now) => {
      drawn += 1
      // No UUID is older than 1970.
      const millis = now > 0n ? now / MICROS_PER_MILLI : 0n
      const time = millis.toString(16).padStart(12, "0")
      return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${drawn.toString(16).padStart(12, "0")}`
    },
    secret: () => {
      drawn += 1
      return drawn.toString().padStart(SECRET_LENGTH, "0")
    },
  }
}
