import type { AgentId, CheckId, IncidentId, IncidentKey } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { IncidentState, Severity } from "@tocsin/contract/Status"
import { stateTable } from "@tocsin/contract/TransitionTable"

/**
 * The origin of an incident's key: `named` by an event, or `automatic` from agent and check. The
 * two kinds never collide, even with equal text (docs/rules.md#incidents).
 */
export type IncidentKind = "named" | "automatic"

/** Why a member leaves: by an event, silent or not, or because its check or agent is deleted or its agent blocked. */
export type Leaving = { readonly by: "event"; readonly notify: boolean } | { readonly by: "agent_gone" }

/** The identity of an open incident: at most one is open per (kind, key). */
export interface IncidentRef {
  readonly kind: IncidentKind
  readonly incident_key: IncidentKey
}

/**
 * One incident as stored. Counts its members by status, so that severity is known without loading
 * them.
 */
export interface IncidentRecord extends IncidentRef {
  readonly id: IncidentId
  readonly state: IncidentState
  readonly severity: Severity
  /** The agent of the only member; absent with several members (docs/rules.md#incidents). */
  readonly agent_id: AgentId | undefined
  readonly check_id: CheckId | undefined
  /** The check that opened it; constant (docs/rules.md#alertmanager). */
  readonly opener_agent_id: AgentId
  readonly opener_check_id: CheckId
  readonly opened_at: Instant
  readonly resolved_at: Instant | undefined
  /**
   * Why its last member left: decides on a firing whose attempt was under way then. Absent while it is
   * open, and for incidents that earlier versions resolved.
   */
  readonly resolved_by: Leaving["by"] | undefined
  readonly summary: string | undefined
  /** How often a member joined, changed or left; numbers these changes. */
  readonly member_changes: number
  readonly members_warning: number
  readonly members_unknown: number
  readonly members_critical: number
  /**
   * The name of the acknowledging operator; see `Acknowledgement`. Absent, as the next ones, unless
   * acknowledged.
   */
  readonly ack_by: string | undefined
  readonly ack_note: string | undefined
  readonly ack_at: Instant | undefined
  readonly ack_until: Instant | undefined
  readonly ack_severity: Severity | undefined
  /** The severity that receivers are to know; absent before a loud event (docs/rules.md#firings). */
  readonly announced: Severity | undefined
  /** When it was first announced at this severity or worse; absent if it was never announced at it. */
  readonly reached_warning_at: Instant | undefined
  readonly reached_unknown_at: Instant | undefined
  readonly reached_critical_at: Instant | undefined
  /** When it is evaluated next; absent where nothing is to come (docs/rules.md#evaluation). */
  readonly next_evaluation_at: Instant | undefined
  /** How many log entries its timeline has, and the number of the last one. */
  readonly log_entries: number
}

const LONGEST_KEY = 256

/**
 * The incident of an event: that of the key it names, or the automatic one of its check
 * (docs/rules.md#incidents).
 */
export const incidentRefOf = (
  agentId: AgentId,
  event: { readonly check_id: CheckId; readonly incident_key?: IncidentKey | undefined },
  sha256: (text: string) => string,
): IncidentRef => {
  if (event.incident_key !== undefined) return { kind: "named", incident_key: event.incident_key }
  const text = `${agentId}/${event.check_id}`
  const key = text.length <= LONGEST_KEY ? text : `sha256:${sha256(text)}`
  // Not validated again: IDs contain plain text only.
  return { kind: "automatic", incident_key: key as IncidentKey }
}

/**
 * One change of an incident's membership, never edited: which check did what, and the severity
 * afterwards.
 */
export interface IncidentChangeRecord {
  readonly incident_id: IncidentId
  /** Numbers the changes of one incident from 1. */
  readonly seq: number
  readonly changed_at: Instant
  readonly change: "joined" | "worsened" | "improved" | "left"
  readonly agent_id: AgentId
  readonly check_id: CheckId
  /** The member's severity; its last one if it left. */
  readonly severity: Severity
  /** The incident's severity afterwards; absent when it resolved. */
  readonly incident_severity: Severity | undefined
}

/** A long history of changes keeps this many of the first … */
export const FIRST_CHANGES = 100
/** … and this many of the last changes: how it began, and what happens now. */
export const LAST_CHANGES = 900
export const STORY_CHANGES = FIRST_CHANGES + LAST_CHANGES

/** The changes that an incident's history drops: from {@link FIRST_CHANGES} up to this one. */
export interface TimelineCut {
  readonly incident_id: IncidentId
  /** The number of the last change to drop. */
  readonly up_to: number
}

/** The changes to delete when the change of this number is written. */
export const cutOf = (incident_id: IncidentId, seq: number): TimelineCut | undefined =>
  seq > STORY_CHANGES ? { incident_id, up_to: seq - LAST_CHANGES } : undefined

/** Whether a cut drops this change. */
export const isCut = ({ seq }: { readonly seq: number }, { up_to }: TimelineCut): boolean =>
  seq > FIRST_CHANGES && seq <= up_to

/**
 * Transitions of an incident (docs/rules.md#incidents). A resolved incident never reopens: new
 * trouble opens a new one.
 */
export const IncidentTransitions = stateTable({
  absent: {
    "member_joined -> open":
      "a check turns not ok, moves from another incident, or its agent turns dead; no incident of its key is open | a firing is enqueued for each enabled notifier, if the event allows notifications",
  },
  open: {
    "member_joined -> open":
      "another check of the same key turns not ok, or moves from another incident | severity follows the worst member; if the event allows notifications, a firing is enqueued for each enabled notifier that has none at this severity or a higher one, discarded ones aside",
    "member_changed -> open":
      "a member changes from one failing status to another | severity follows the worst member; if the member worsened, firings as above",
    "member_left -> open":
      "a member turns ok, moves to another incident or is deleted, and others remain | severity, summary and the ids of a single member follow the remaining members",
    "last_member_left -> resolved":
      "the last member turns ok, moves to another incident or is deleted, or a dead agent makes contact | firings never attempted are discarded; if the event allows notifications, a resolved is enqueued for each notifier of which a firing was attempted and not refused; if the agent was deleted or blocked instead, pending and waiting firings are discarded, and a resolved is enqueued for each notifier of which a firing was sent or is being sent",
  },
})

/** The actor of Tocsin's own changes: no operator has this name. */
export const SYSTEM = "system"

/** An entry of an incident's log, never edited; part of its timeline. */
export interface IncidentLogRecord {
  readonly incident_id: IncidentId
  /** Numbers the log entries of one incident from 1. */
  readonly seq: number
  readonly logged_at: Instant
  /** `worsened`: the incident became worse than acknowledged, which ended the acknowledgement. */
  readonly action: "acknowledged" | "withdrawn" | "worsened" | "ran_out" | "noted"
  readonly actor: string
  /** The note. */
  readonly text: string | undefined
  /** The end of an acknowledgement. */
  readonly ack_until: Instant | undefined
  /** The acknowledged severity. */
  readonly severity: Severity | undefined
}

/** An act before it is numbered; what it lacks is absent. */
export type LogEntry = Pick<IncidentLogRecord, "action" | "actor"> &
  Partial<Pick<IncidentLogRecord, "text" | "ack_until" | "severity">>
