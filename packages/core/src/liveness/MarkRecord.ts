import * as Instant from "../contract/Instant.ts"

/** The sign of life that all replicas share: a gap between marks is an outage of the service itself (docs/rules.md#outages-of-the-service). */
export interface MarkRecord {
  readonly name: "service"
  readonly marked_at: Instant.Instant
  /** When the last outage ended; absent when there was none. */
  readonly outage_ended_at: Instant.Instant | undefined
}

/**
 * The moment of a mark that no server has left yet: what a copy writes. The first server on it then sees that nothing could be
 * committed until now, and gives agents their time to come back.
 */
export const NEVER_MARKED = Instant.fromMicros(0n)
