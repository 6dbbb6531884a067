import type { IncidentId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { Severity } from "../contract/Status.ts"

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
