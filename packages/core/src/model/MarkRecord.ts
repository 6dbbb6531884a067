import * as Instant from "@tocsin/contract/Instant"

/**
 * The sign of life that all replicas share. A gap between marks is an outage of the service
 * (docs/rules.md#outages-of-the-service).
 */
export interface MarkRecord {
  readonly name: "service"
  readonly marked_at: Instant.Instant
  /** The last sign of life before the last outage; absent in marks of earlier versions. */
  readonly outage_began_at: Instant.Instant | undefined
  /** When the last outage ended, if there was one. */
  readonly outage_ended_at: Instant.Instant | undefined
  /**
   * The same as `marked_at` where a server of this version left the mark: another value betrays one
   * that knows no policies, acknowledgements and silences.
   */
  readonly signed_at?: Instant.Instant
  /** When such a server last left the mark before a server of this version did. */
  readonly older_seen_at?: Instant.Instant
}

/**
 * The mark that a copy writes. The first server that uses the copy then sees an outage until now,
 * and gives agents time to return.
 */
export const NEVER_MARKED = Instant.fromMicros(0n)
