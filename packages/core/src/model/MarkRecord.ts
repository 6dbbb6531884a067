import * as Instant from "@tocsin/contract/Instant"

/**
 * The sign of life that all replicas share. A gap between marks is an outage of the service
 * (docs/rules.md#outages-of-the-service).
 */
export interface MarkRecord {
  readonly name: "service"
  readonly marked_at: Instant.Instant
  /** The last sign of life before the last outage. */
  readonly outage_began_at: Instant.Instant | undefined
  /** When the last outage ended, if there was one. */
  readonly outage_ended_at: Instant.Instant | undefined
}

/**
 * The mark that a copy writes. The first server that uses the copy then sees an outage until now,
 * and gives agents time to return.
 */
export const NEVER_MARKED = Instant.fromMicros(0n)
