import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"

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
