import type { Transition } from "@tocsin/contract/TransitionTable"

/**
 * Transitions of an expectation (docs/rules.md#freshness). A result of a check that is not overdue
 * changes nothing here: the next look reads when the check last reported.
 */
export const ExpectationTransitions = [
  {
    from: "absent",
    trigger: "declared",
    condition: "its agent declares it with the accepted key",
    to: "expected",
    effects: "the first look is at its due time",
  },
  {
    from: "absent",
    trigger: "matched",
    condition: "it has reported, and a rule of the policy in force matches it",
    to: "expected",
    effects: "the first look is at its due time",
  },
  {
    from: "absent",
    trigger: "started",
    condition: "a sender of an integration reports that a run has begun, or leaves a log",
    to: "expected",
    effects: "the first look is when the run must have ended",
  },
  {
    from: "expected",
    trigger: "started",
    condition: "a sender of an integration reports that a run has begun, or leaves a log",
    to: "expected",
    effects: "the next look is when the first run must have ended, if that is sooner",
  },
  {
    from: "overdue",
    trigger: "started",
    condition: "a sender of an integration reports that a run has begun, or leaves a log",
    to: "overdue",
    effects: "nothing else changes",
  },
  {
    from: "expected",
    trigger: "ended",
    condition: "the last run reports its end, and nothing else is expected",
    to: "absent",
    effects: "nothing else changes",
  },
  {
    from: "expected",
    trigger: "declared",
    condition: "its agent declares other terms; equal terms change nothing",
    to: "expected",
    effects: "the due time is counted from now",
  },
  {
    from: "expected",
    trigger: "found_in_time",
    condition:
      "a look finds that it reported since, that its agent is stale, or that its agent's contact or the service's last outage is too recent",
    to: "expected",
    effects: "the next look is when it may be overdue at the earliest",
  },
  {
    from: "expected",
    trigger: "found_overdue",
    condition:
      "a look finds that its due time has passed, that its agent was seen since, and that contact and service have lasted for `after`",
    to: "overdue",
    effects: "the check joins the incident of its agent's overdue checks",
  },
  {
    from: "overdue",
    trigger: "declared",
    condition: "its agent declares other terms",
    to: "overdue",
    effects: "the member takes the declared severity",
  },
  {
    from: "expected",
    trigger: "matched",
    condition: "another rule of the policy matches it, or the same with other terms; no declaration",
    to: "expected",
    effects: "the due time is counted from now",
  },
  {
    from: "overdue",
    trigger: "matched",
    condition: "another rule of the policy matches it, or the same with other terms; no declaration",
    to: "overdue",
    effects: "the member takes the severity of the rule",
  },
  {
    from: "expected",
    trigger: "unmatched",
    condition: "no rule of the policy matches it any more; no declaration",
    to: "absent",
    effects: "nothing else changes",
  },
  {
    from: "overdue",
    trigger: "unmatched",
    condition: "no rule of the policy matches it any more; no declaration",
    to: "absent",
    effects: "the check leaves the incident",
  },
  {
    from: "overdue",
    trigger: "reported",
    condition: "the next result arrives in order",
    to: "expected",
    effects: "the check leaves the incident; the next look is at its due time",
  },
  {
    from: "expected",
    trigger: "withdrawn",
    condition: "a complete declaration of its agent leaves it out",
    to: "absent",
    effects: "nothing else changes",
  },
  {
    from: "overdue",
    trigger: "withdrawn",
    condition: "a complete declaration of its agent leaves it out",
    to: "absent",
    effects: "the check leaves the incident",
  },
  {
    from: "expected",
    trigger: "removed",
    condition: "its check or its agent is deleted",
    to: "absent",
    effects: "rows of a deleted agent are removed in pieces",
  },
  {
    from: "overdue",
    trigger: "removed",
    condition: "its check or its agent is deleted",
    to: "absent",
    effects: "the check leaves the incident like a check of a deleted agent",
  },
] as const satisfies ReadonlyArray<Transition>
