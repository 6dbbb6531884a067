import { Context } from "effect"
import type { Instant } from "../contract/Instant.ts"

/** Source of new identifiers. */
export class Ids extends Context.Service<
  Ids,
  {
    /** A new UUIDv7 in lower case (RFC 9562), its time part taken from `now`. Synchronous; never the same twice. */
    readonly uuidV7: (now: Instant) => string
  }
>()("@tocsin/core/ports/Ids") {}
