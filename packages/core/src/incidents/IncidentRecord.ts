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

const LONGEST_KEY = 256

/** The incident of an agent's event: that of the key it names, otherwise the automatic one of its check (docs/rules.md#incidents). */
export const incidentRefOf = (
  agentId: AgentId,
  event: { readonly check_id: CheckId; readonly incident_key?: IncidentKey | undefined },
  sha256: (text: string) => string,
): IncidentRef => {
  if (event.incident_key !== undefined) return { kind: "named", incident_key: event.incident_key }
  const text = `${agentId}/${event.check_id}`
  const key = text.length <= LONGEST_KEY ? text : `sha256:${sha256(text)}`
  // A key by its schema, which would read it once more: ids hold plain text alone.
  return { kind: "automatic", incident_key: key as IncidentKey }
}

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

/** An incident that has more changes keeps the first so many of them, … */
export const FIRST_CHANGES = 100
/** … and the last so many: how it began, and what it does now. */
export const LAST_CHANGES = 900
/** More changes than this no story has. */
export const STORY_CHANGES = FIRST_CHANGES + LAST_CHANGES

/** What a story loses: its changes from {@link FIRST_CHANGES} on, up to one of them. */
export interface StoryCut {
  readonly incident_id: IncidentId
  /** The number of the last change that goes. */
  readonly up_to: number
}

/** What a story loses when its change of this number is written. */
export const cutOf = (incident_id: IncidentId, seq: number): StoryCut | undefined =>
  seq > STORY_CHANGES ? { incident_id, up_to: seq - LAST_CHANGES } : undefined

/** Whether a change goes with a cut of its story. */
export const isCut = ({ seq }: { readonly seq: number }, { up_to }: StoryCut): boolean =>
  seq > FIRST_CHANGES && seq <= up_to
