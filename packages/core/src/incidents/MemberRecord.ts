import type { AgentId, CheckId, IncidentId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { Severity } from "../contract/Status.ts"

/** Names the membership of one check in one incident. */
export interface MemberRef {
  readonly incident_id: IncidentId
  readonly agent_id: AgentId
  readonly check_id: CheckId
}

/** The membership of one check in one incident, kept after it left: filters find past members too (docs/rules.md#incidents). */
export interface MemberRecord extends MemberRef {
  readonly severity: Severity
  /** Which change of the incident's membership it owes its severity to; of equally severe members the latest speaks. */
  readonly change_seq: number
  /** First line of its latest output, at most 512 characters. */
  readonly summary: string | undefined
  readonly joined_at: Instant
  /** Absent while it is a member. */
  readonly left_at: Instant | undefined
}
