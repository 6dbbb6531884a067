import { Context } from "effect"
import type { Instant } from "../contract/Instant.ts"

/** Source of new IDs. */
export class Ids extends Context.Service<
  Ids,
  {
    /**
     * A new UUIDv7 in lower case (RFC 9562), unique, with the time of `now`. IDs of one source
     * increase strictly, so that lists show what one transaction makes in its order; if `now` does
     * not advance, they keep the time of the previous ID.
     */
    readonly uuidV7: (now: Instant) => string
  }
>()("@tocsin/core/ports/Ids") {}
