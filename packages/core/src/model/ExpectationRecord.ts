import type { CheckRef } from "./CheckRecord.ts"
import type { Labels } from "@tocsin/contract/Labels"
import type { AgentId, CheckId, IncidentId, RegistrationId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { stateTable } from "@tocsin/contract/TransitionTable"
import { instant, keyedTable, object, orUndefined, type RecordOf, text, uuid } from "./TableShape.ts"

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
  readonly severity: Severity
  /** Whether to notify when it becomes overdue, and when it no longer is. */
  readonly notifications_enabled: boolean
  /** Runs that have begun: each must report within `grace_millis`, or an hour. */
  readonly starts?: ReadonlyArray<Start>
  /** A text that a sender left for the output of the next result. */
  readonly log?: string
}

const NEVER_MILLIS = 3_155_760_000_000

/** A century, and no notification: a check whose terms cannot be read is never overdue. */
const NEVER_DUE: Terms = {
  after_millis: NEVER_MILLIS,
  severity: "warning",
  notifications_enabled: false,
}

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
export const expectation = keyedTable({
  name: "expectation",
  key: ["agent_id", "check_id", "registration_id"],
  locks: "guarded",
  group: ["agent_id", "registration_id"],
  columns: {
    agent_id: text<AgentId>(),
    registration_id: uuid<RegistrationId>(),
    check_id: text<CheckId>(),
    /** A declaration of its agent, the policy, or an alert that its source repeats. */
    origin: text<"agent" | "policy" | "alert">(),
    /** Absent if the check has labels alone: it need not report. */
    terms: orUndefined(object<Terms>(NEVER_DUE)),
    expected_from: instant,
    /** When it may first be overdue; absent while it is, without terms, and of an alert, whose own row has it. */
    next_evaluation_at: orUndefined(instant),
    /** The open incident of its agent's overdue checks, while it is overdue. */
    incident_id: orUndefined(text<IncidentId>()),
    /** The labels that matchers compare before those of its agent. */
    labels: orUndefined(object<Labels>()),
    labelled_at: orUndefined(instant),
  },
})
export type ExpectationRecord = RecordOf<typeof expectation>

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

export type WithTerms = ExpectationRecord & { readonly terms: Terms }

export const hasTerms = (row: ExpectationRecord | undefined): row is WithTerms => row?.terms !== undefined

/** Its state, as the state table names it. */
export const stateOf = ({ incident_id, terms }: ExpectationRecord): "absent" | "expected" | "overdue" => {
  if (terms === undefined) return "absent"
  return incident_id === undefined ? "expected" : "overdue"
}

/**
 * Transitions of an expectation (docs/rules.md#freshness). A result of a check that is not overdue
 * changes nothing here: the next evaluation reads when the check last reported.
 */
export const ExpectationTransitions = stateTable({
  absent: {
    "declared -> expected":
      "its agent declares it with the accepted key | the first evaluation is at its due time",
    "matched -> expected":
      "it has reported, and a rule of the policy in force matches it | the first evaluation is at its due time",
    "started -> expected":
      "a sender of an integration reports that a run has begun, or leaves a log | the first evaluation is when the run must have ended",
  },
  expected: {
    "started -> expected":
      "a sender of an integration reports that a run has begun, or leaves a log | the next evaluation is when the first run must have ended, if that is sooner",
    "ended -> absent": "the last run reports its end, and nothing else is expected | nothing else changes",
    "declared -> expected":
      "its agent declares other terms; equal terms change nothing | the due time is counted from now",
    "found_in_time -> expected":
      "an evaluation finds that it reported since, that its agent is stale, or that its agent's contact or the service's last outage is too recent | the next evaluation is when it may be overdue at the earliest",
    "found_overdue -> overdue":
      "an evaluation finds that its due time has passed, that its agent was seen since, and that contact and service have lasted for `after` | the check joins the incident of its agent's overdue checks",
    "matched -> expected":
      "another rule of the policy matches it, or the same with other terms; no declaration | the due time is counted from now",
    "unmatched -> absent": "no rule of the policy matches it any more; no declaration | nothing else changes",
    "withdrawn -> absent":
      "a complete declaration of its agent leaves it out, or its alert has ended | nothing else changes",
    "removed -> absent": "its check or its agent is deleted | rows of a deleted agent are removed in pieces",
  },
  overdue: {
    "started -> overdue":
      "a sender of an integration reports that a run has begun, or leaves a log | nothing else changes",
    "declared -> overdue": "its agent declares other terms | the member takes the declared severity",
    "matched -> overdue":
      "another rule of the policy matches it, or the same with other terms; no declaration | the member takes the severity of the rule",
    "unmatched -> absent":
      "no rule of the policy matches it any more; no declaration | the check leaves the incident",
    "reported -> expected":
      "the next result arrives in order | the check leaves the incident; the next evaluation is at its due time",
    "withdrawn -> absent":
      "a complete declaration of its agent leaves it out | the check leaves the incident",
    "removed -> absent":
      "its check or its agent is deleted | the check leaves the incident like a check of a deleted agent",
  },
})
