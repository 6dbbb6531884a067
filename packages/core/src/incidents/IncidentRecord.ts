import type { AgentId, CheckId, IncidentId, IncidentKey } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { IncidentState, Severity } from "../contract/Status.ts"

/**
 * Where an incident's key comes from: `named` by an event, or `automatic` from its agent and check. The two never meet,
 * even when equal as text (docs/rules.md#incidents).
 */
export type IncidentKind = "named" | "automatic"

/** What makes an open incident unique: at most one is open per (kind, key). */
export interface IncidentRef {
  readonly kind: IncidentKind
  readonly incident_key: IncidentKey
}

/** One incident as stored. Members are counted by status, so that severity is known without loading them. */
export interface IncidentRecord extends IncidentRef {
  readonly id: IncidentId
  readonly state: IncidentState
  readonly severity: Severity
  /** The single member's agent; absent with several members (docs/rules.md#incidents). */
  readonly agent_id: AgentId | undefined
  readonly check_id: CheckId | undefined
  /** The check that opened it; fixed for the incident's life (alert_router, docs/rules.md#alertmanager). */
  readonly opener_agent_id: AgentId
  readonly opener_check_id: CheckId
  readonly opened_at: Instant
  readonly resolved_at: Instant | undefined
  readonly summary: string | undefined
  /** How often a member joined or changed its status so far; numbers those changes. */
  readonly member_changes: number
  readonly members_warning: number
  readonly members_unknown: number
  readonly members_critical: number
}
