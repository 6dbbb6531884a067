import type { AgentId, CheckId, IncidentId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { CheckStatus, Severity } from "../contract/Status.ts"

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

/** The member of a heartbeat incident: no check of that name can exist, since `@` is in no check id. */
export const HEARTBEAT = "@heartbeat" as CheckId // Not made by its schema, which refuses it by design.

/** Severities by rank: critical > unknown > warning (docs/rules.md#incidents). Stored as numbers where rows are ordered by them. */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { warning: 1, unknown: 2, critical: 3 }

/** The severity that a check's status means to its incident; `undefined` when it is ok. */
export const severityOf = (status: CheckStatus): Severity | undefined =>
  status === "ok" ? undefined : status

/**
 * Orders the members of one incident so that the one that speaks for it comes first: the most severe, and of these the
 * one whose status changed last (docs/rules.md#incidents). Never 0 for two members of one incident.
 */
export const compareMembers = (a: MemberRecord, b: MemberRecord): number =>
  SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity] || b.change_seq - a.change_seq
