import type * as Instant from "@tocsin/contract/Instant"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import type { DeliveryAttempt } from "@tocsin/core/ports/DeliveryAttempt"
import type { HoldName, OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import type { UnsentFiring } from "./SimulationReport.ts"

/** The holds of a firing, in the order in which they were found. */
export type HeldBy = ReadonlyArray<HoldName>

/** A notification, and when it would have been sent. */
export interface SentNotification {
  readonly at: Instant.Instant
  readonly notification: DeliveryAttempt
  /** Empty if it was never held. */
  readonly heldBy: HeldBy
}

/** A firing that was discarded, or is held. */
export interface HeldFiring {
  readonly item: OutboxRecord
  readonly incident: IncidentRecord
  readonly heldBy: HeldBy
}

/** Why a firing was not sent. */
export type UnsentReason = UnsentFiring["reason"]

/** Why a firing was not sent: one that is not discarded is still held. */
export const reasonOf = ({ incident, item }: HeldFiring): UnsentReason =>
  item.state !== "discarded" ? "still_held" : incident.state === "open" ? "replaced" : "resolved"

/** An incident in its final state, with its changes. */
export interface EndedIncident {
  readonly incident: IncidentRecord
  readonly changes: ReadonlyArray<IncidentChangeRecord>
}

/** Hears what becomes of notifications and incidents. */
export interface SimulationListener {
  readonly sent: (sent: SentNotification) => void
  readonly discarded: (unsent: HeldFiring) => void
  readonly ended: (incident: EndedIncident) => void
}
