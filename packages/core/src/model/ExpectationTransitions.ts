import { stateTable } from "@tocsin/contract/TransitionTable"

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
    "withdrawn -> absent": "a complete declaration of its agent leaves it out | nothing else changes",
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
