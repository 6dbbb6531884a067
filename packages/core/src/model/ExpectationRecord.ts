import type { CheckRef } from "./CheckRecord.ts"
import type { Labels } from "@tocsin/contract/Labels"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"

/** A run of a check that has begun and not reported yet. */
export interface Start {
  /** Ties a start to its end; empty where the sender gives none. */
  readonly rid: string
  /** When it began, in microseconds since 1970. */
  readonly at: number
}

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
  /** Runs that have begun: each must report within `grace_millis`, or an hour. */
  readonly starts?: ReadonlyArray<Start>
  /** A text that a sender left for the output of the next result. */
  readonly log?: string
  /** Of an alert: the server that last sent it; empty if it states none. */
  readonly source?: string
  /** Of an alert that fires: for how long its source vouches for it; absent if none repeats it. */
  readonly lease_millis?: number
}

const NEVER_MILLIS = 3_155_760_000_000

/** A century, and no notification: a check whose terms cannot be read is never overdue. */
export const NEVER_DUE: Terms = {
  after_millis: NEVER_MILLIS,
  severity: "warning",
  notifications_enabled: false,
}

/** The terms of a check that is expected only while a run of it has begun. */
export const WHILE_RUNNING: Terms = {
  after_millis: NEVER_MILLIS,
  severity: "unknown",
  notifications_enabled: true,
}

/** Whether terms expect nothing but the ends of runs. */
export const isWhileRunning = ({ after_millis, cron }: Terms): boolean =>
  after_millis === NEVER_MILLIS && cron === undefined

/**
 * A check that must report, has labels, or both, as stored. It is overdue while it is a member of an
 * incident. Results leave the row as it is, so `next_evaluation_at` may lie before the check's true due time,
 * never after it.
 */
export interface ExpectationRecord extends CheckRef {
  /** The source of the expectation: a declaration of its agent, or the policy. */
  readonly origin: "agent" | "policy"
  /** Absent if the check has labels alone: it need not report. */
  readonly terms: Terms | undefined
  /** When these terms began to apply. */
  readonly expected_from: Instant
  /** When it may first be overdue; absent while it is, and without terms. */
  readonly next_evaluation_at: Instant | undefined
  /** The open incident of its agent's overdue checks, while it is overdue. */
  readonly incident_id: IncidentId | undefined
  /** The labels that matchers compare before those of its agent. */
  readonly labels: Labels | undefined
  /** When its labels last changed. */
  readonly labelled_at: Instant | undefined
}

/** The row of a check that need not report. */
export const unexpected = (
  { agent_id, check_id, registration_id }: CheckRef,
  now: Instant,
): ExpectationRecord => ({
  agent_id,
  check_id,
  registration_id,
  origin: "agent",
  terms: undefined,
  expected_from: now,
  next_evaluation_at: undefined,
  incident_id: undefined,
  labels: undefined,
  labelled_at: undefined,
})

/** A check that must report. */
export type WithTerms = ExpectationRecord & { readonly terms: Terms }

export const hasTerms = (expectation: ExpectationRecord | undefined): expectation is WithTerms =>
  expectation?.terms !== undefined

/** Its state, as the state table names it. */
export const stateOf = ({ incident_id, terms }: ExpectationRecord): "absent" | "expected" | "overdue" => {
  if (terms === undefined) return "absent"
  return incident_id === undefined ? "expected" : "overdue"
}
