import type { AgentId, CheckId, IncidentId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { Severity } from "../contract/Status.ts"

/** One line of an incident's story, never changed once written: which check did what, and how bad it all was after. */
export interface IncidentChangeRecord {
  readonly incident_id: IncidentId
  /** Numbers the changes of one incident from 1. */
  readonly seq: number
  readonly changed_at: Instant
  readonly change: "joined" | "worsened" | "improved" | "left"
  readonly agent_id: AgentId
  readonly check_id: CheckId
  /** The member's severity; of one that left, the last it had. */
  readonly severity: Severity
  /** The incident's severity afterwards; absent when it resolved. */
  readonly incident_severity: Severity | undefined
}
