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

/** Names one label set of an incident at the alert router: the severity is part of the labels. */
export interface AlertRef {
  readonly incident_id: IncidentId
  readonly severity: Severity
}

/**
 * A label set that the alert router was sent and that has to be sent again: firing every minute while the incident has
 * that severity, then as ended for five minutes (docs/rules.md#alertmanager).
 */
export interface AlertRecord extends AlertRef {
  readonly next_at: Instant
  /** When the incident resolved or left that severity; absent while it fires. */
  readonly ended_at: Instant | undefined
  /** Until when a replica's claim holds, by the storage's clock. */
  readonly leased_until: Instant | undefined
}
