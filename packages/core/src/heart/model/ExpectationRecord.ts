import { CHECK_COLUMNS, type CheckRef, OF_CHECK } from "../../kernel/model/CheckRef.ts"
import { type CheckFilter, isFound, ofPresentAgents } from "./checkLists.ts"
import { constant, type ListPlan, one } from "../../kernel/model/ListPlan.ts"
import type { ExpectedIncident } from "@tocsin/contract/overdue/Expectations"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { Severity } from "@tocsin/contract/formats/Status"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import { NO_TOPICS, topic } from "../../kernel/topics/Topics.ts"
import {
  instant,
  keyedTable,
  object,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

/** How often a check must report, and what it means if it does not (docs/rules.md#expectations). */
export interface Terms {
  /** The longest usual time between two results; absent with `cron`. */
  readonly every_millis?: number
  /** How long without a result makes the check late. Also how long an agent's contact must last. */
  readonly after_millis: number
  /** When it must report, by the clock of the time zone `tz`, and how late it may be. */
  readonly cron?: string
  readonly tz?: string
  readonly grace_millis?: number
  readonly severity: Severity
  /** The severity was stated. Absent with a usual one, and in rows older than severities by kind of check. */
  readonly is_severity_stated?: true
  /** Whether to notify when it becomes late, and when it no longer is. */
  readonly notifications_enabled: boolean
  /** Its incident while it is late, where that is stated. */
  readonly incident?: ExpectedIncident
}

const CHECKS = topic("checks")

/** A check whose terms cannot be read is never overdue. */
const UNREADABLE: Terms = {
  after_millis: 3_155_760_000_000,
  severity: "warning",
  notifications_enabled: false,
}

export interface LateFilter extends CheckFilter {
  /** Lists those alone that never reported. */
  readonly neverReported?: true | undefined
}

/** A check that never reported has no status, which is not ok, and no summary. */
const planOverdue = (filter: LateFilter): ListPlan => {
  const present = ofPresentAgents(filter.agent_id)
  const found = isFound(filter, "c")
  const conditions = [
    constant("r.incident_id IS NOT NULL"),
    ...(filter.state === undefined || filter.state === "late" ? [] : [constant("1 = 0")]),
    ...(filter.status === "not_ok" ? [{ sql: "c.status IS DISTINCT FROM ?", values: ["ok"] }] : []),
    ...(filter.neverReported === true
      ? [{ sql: "coalesce(c.status, ?) = ?", values: ["never", "never"] }]
      : []),
    ...present.conditions,
    ...found.conditions,
  ]
  return one({ ...present, ...found, conditions, hasReported: true })
}

/**
 * A check that must report, as stored. It is late while it is a member of an
 * incident. Results leave the row as it is, so `next_evaluation_at` may lie before the check's true due time,
 * never after it.
 */
export const expectation = keyedTable({
  name: "expectation",
  ...OF_CHECK,
  // Its next evaluation concerns no topic.
  topicsOf: (before, after) =>
    before?.incident_id === after?.incident_id &&
    before?.terms === after?.terms &&
    before?.running_since === after?.running_since
      ? NO_TOPICS
      : CHECKS,
  list: { name: "overdue", orders: { agent_id: ["agent_id", "check_id"] }, plan: planOverdue },
  columns: {
    ...CHECK_COLUMNS,
    /** A declaration of its agent, the policy, an alert that its source repeats, or a run without any of these. */
    origin: text<"agent" | "policy" | "alert" | "run">(),
    terms: object<Terms>(UNREADABLE),
    expected_from: instant,
    /** When the first of its runs began that have not ended. */
    running_since: orUndefined(instant),
    /** When it may first be late; absent while it is, and of an alert, whose own row has it. */
    next_evaluation_at: orUndefined(instant),
    /** The open incident of late checks that it is in, while it is late. */
    incident_id: orUndefined(text<IncidentId>()),
    /** When it was due, while it is late in an incident of its own. */
    alone_due_at: orUndefined(instant),
  },
})
export type ExpectationRecord = RecordOf<typeof expectation>

/** The row of a check that is expected from now on. */
export const newExpectation = (
  { agent_id, check_id, registration_id }: CheckRef,
  given: Pick<ExpectationRecord, "expected_from" | "origin" | "terms">,
): ExpectationRecord => ({
  agent_id,
  check_id,
  registration_id,
  ...given,
  running_since: undefined,
  next_evaluation_at: undefined,
  incident_id: undefined,
  alone_due_at: undefined,
})

/** Its state, as the state table names it. */
export const stateOf = (row: ExpectationRecord | undefined): "absent" | "expected" | "overdue" => {
  if (row === undefined) return "absent"
  return row.incident_id === undefined ? "expected" : "overdue"
}

/**
 * Transitions of an expectation (docs/rules.md#expectations). A result of a check that is not overdue
 * changes nothing here: the next evaluation reads when the check last reported.
 */
export const ExpectationTransitions = stateTable({
  absent: {
    "declared -> expected":
      "its agent declares it with the accepted key | the first evaluation is at its due time",
    "matched -> expected":
      "it has reported, and a rule of the policy in force matches it | the first evaluation is at its due time",
    "started -> expected":
      "a sender of an integration reports that a run has begun | the first evaluation is when the run must have ended",
  },
  expected: {
    "started -> expected":
      "a sender of an integration reports that a run has begun | the next evaluation is when the first run must have ended, if that is sooner",
    "ended -> absent": "the last run reports its end, and nothing else is expected | nothing else changes",
    "declared -> expected":
      "its agent declares other terms; equal terms change nothing | the due time is counted from now",
    "found_in_time -> expected":
      "an evaluation finds that it reported since, that its agent is stale, or that its agent's contact or the service's last outage is too recent | the next evaluation is when it may be late at the earliest",
    "found_overdue -> overdue":
      "an evaluation finds that its due time has passed, that its agent was seen since, and that contact and service have lasted for `after` | the check opens its own incident, or joins that of its agent's late checks",
    "matched -> expected":
      "another rule of the policy matches it, or the same with other terms; no declaration | the due time is counted from now",
    "unmatched -> absent": "no rule of the policy matches it any more; no declaration | nothing else changes",
    "withdrawn -> absent":
      "a complete declaration of its agent leaves it out, or its alert has ended | nothing else changes",
    "removed -> absent": "its check or its agent is deleted | rows of a deleted agent are removed in pieces",
  },
  overdue: {
    "started -> overdue": "a sender of an integration reports that a run has begun | nothing else changes",
    "declared -> overdue":
      "its agent declares other terms | the member takes the declared severity, and stays in its incident",
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
