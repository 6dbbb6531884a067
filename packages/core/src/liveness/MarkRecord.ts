import type { Instant } from "../contract/Instant.ts"

/** The sign of life that all replicas share: a gap between marks is an outage of the service itself (decisions §5). */
export interface MarkRecord {
  readonly name: "service"
  readonly marked_at: Instant
  /** When the last outage ended; absent when there was none. */
  readonly outage_ended_at: Instant | undefined
}
