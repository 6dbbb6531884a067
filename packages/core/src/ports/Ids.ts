import { Context } from "effect"
import type { Instant } from "../contract/Instant.ts"

/** Source of new identifiers. */
export class Ids extends Context.Service<
  Ids,
  {
    /**
     * A new UUIDv7 in lower case (RFC 9562), its time part taken from `now`. Synchronous; never the same twice. Ids of one
     * source increase strictly (§6.2), so that what one transaction makes lists in the order in which it was made: where
     * `now` does not go on, their time part is that of the id before.
     */
    readonly uuidV7: (now: Instant) => string
  }
>()("@tocsin/core/ports/Ids") {}
