import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { NotificationType, NotifierKind, OutboxState, Severity } from "../contract/Status.ts"

/** One notification on its way to one notifier, as stored. */
export interface OutboxRecord {
  readonly id: OutboxId
  readonly notifier: NotifierKind
  readonly state: OutboxState
  readonly incident_id: IncidentId
  readonly event_type: NotificationType
  /** The incident's severity that this notification tells. */
  readonly severity: Severity
  readonly attempts: number
  readonly next_attempt_at: Instant | undefined
  readonly last_error: string | undefined
  readonly created_at: Instant
  readonly updated_at: Instant
}
