import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { NotificationType, NotifierName, OutboxState, Severity } from "../contract/Status.ts"

/** One notification on its way to one notifier, as stored. */
export interface OutboxRecord {
  readonly id: OutboxId
  readonly notifier: NotifierName
  readonly state: OutboxState
  readonly incident_id: IncidentId
  readonly event_type: NotificationType
  /** Which change of the incident's membership it tells of: items of one incident and notifier go out in this order. */
  readonly incident_seq: number
  /** The incident's severity that this notification tells. */
  readonly severity: Severity
  /** The incident's summary when this was enqueued. */
  readonly summary: string | undefined
  readonly attempts: number
  readonly next_attempt_at: Instant | undefined
  readonly last_error: string | undefined
  /** Until when the claim of an item that is `sending` holds, by the storage's clock; absent in every other state. */
  readonly leased_until: Instant | undefined
  readonly created_at: Instant
  /** From when its age counts: when it was created, or replayed last (docs/rules.md#delivery). */
  readonly counts_from: Instant
  readonly updated_at: Instant
}
