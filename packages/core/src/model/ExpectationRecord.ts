import type { CheckRef } from "./CheckRecord.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"

/** How often a check must report, and what it means if it does not (docs/rules.md#freshness). */
export interface Terms {
  /** The longest usual time between two results; absent with `cron`. */
  readonly every_millis?: number
  /** How long without a result makes the check overdue. Also how long an agent's contact must last. */
  readonly after_millis: number
  /** When it must report, by the clock of the time zone `tz`, and how late it may be. */
  readonly cron?: string
  readonly tz?: string
  readonly grace_millis?: number
  /** The severity while it is overdue. */
  readonly severity: Severity
  /** Whether to notify when it becomes overdue, and when it no longer is. */
  readonly notifications_enabled: boolean
}

/**
 * A check that must report, as stored. It is overdue while it is a member of an incident. Results
 * leave the row as it is, so `look_at` may lie before the check's true due time, never after it.
 */
export interface ExpectationRecord extends CheckRef {
  /** Who expects it: its agent, which declared it, or the policy. */
  readonly origin: "agent" | "policy"
  readonly terms: Terms
  /** When these terms began to apply. */
  readonly expected_from: Instant
  /** When it may first be overdue; absent while it is. */
  readonly look_at: Instant | undefined
  /** The open incident of its agent's overdue checks, while it is overdue. */
  readonly incident_id: IncidentId | undefined
}

/** Its state, as the state table names it. */
export const stateOf = ({ incident_id }: ExpectationRecord): "expected" | "overdue" =>
  incident_id === undefined ? "expected" : "overdue"
