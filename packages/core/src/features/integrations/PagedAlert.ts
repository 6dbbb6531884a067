import { stateTable } from "@tocsin/contract/formats/TransitionTable"

/**
 * Transitions of an alert that a sender of a paging service reports (docs/rules.md#pagerduty-and-opsgenie). Its
 * check has its status, and the incident of its check the acknowledgement.
 */
export const PagedAlertTransitions = stateTable({
  absent: {
    "triggered -> firing": "a sender states that it fires | its check is created, and joins an incident",
    "resolved -> absent": "a sender states that it has ended | ignored",
    "acknowledged -> absent": "a sender states that a person acknowledged it | ignored",
    "unacknowledged -> absent": "a sender withdraws that | ignored",
    "amended -> absent": "a sender changes its message or description | ignored",
    "noted -> absent": "a sender adds a note | ignored",
  },
  resolved: {
    "triggered -> firing": "a sender states that it fires | its check joins an incident",
    "resolved -> resolved": "a sender states that it has ended | its check shows that output",
    "acknowledged -> resolved": "a sender states that a person acknowledged it | ignored",
    "unacknowledged -> resolved": "a sender withdraws that | ignored",
    "amended -> resolved": "a sender changes its message or description | ignored",
    "noted -> resolved": "a sender adds a note | ignored",
    "forgotten -> absent":
      "no report for `forget_after`, and nothing expects it | its check is deleted; its incidents stay",
  },
  firing: {
    "triggered -> firing": "a sender repeats it | its check follows severity, labels and output",
    "resolved -> resolved": "a sender states that it has ended | its check is ok, and leaves its incident",
    "acknowledged -> acknowledged":
      "a sender states that a person acknowledged it; not with `acknowledged_for: 0s` | its incident is acknowledged by `integration:NAME`, unless it has members of others",
    "unacknowledged -> firing": "a sender withdraws that | ignored",
    "amended -> firing": "a sender changes its message or description | its check shows that output",
    "noted -> firing": "a sender adds a note | the timeline of its incident shows the note",
    "taken -> taken_over": "an operator acknowledges its incident | as for every incident",
  },
  acknowledged: {
    "triggered -> acknowledged":
      "a sender repeats it | a loud worsening ends the acknowledgement, as for every incident",
    "resolved -> resolved": "a sender states that it has ended | its check is ok, and leaves its incident",
    "acknowledged -> acknowledged": "a sender repeats it | the former acknowledgement is replaced",
    "unacknowledged -> firing": "a sender withdraws that | the acknowledgement is withdrawn",
    "amended -> acknowledged": "a sender changes its message or description | its check shows that output",
    "noted -> acknowledged": "a sender adds a note | the timeline of its incident shows the note",
    "taken -> taken_over": "an operator acknowledges its incident | the former one is replaced",
  },
  taken_over: {
    "triggered -> taken_over":
      "a sender repeats it | a loud worsening ends the acknowledgement, as for every incident",
    "resolved -> resolved": "a sender states that it has ended | its check is ok, and leaves its incident",
    "acknowledged -> taken_over": "a sender states that a person acknowledged it | ignored",
    "unacknowledged -> taken_over": "a sender withdraws that | ignored",
    "amended -> taken_over": "a sender changes its message or description | its check shows that output",
    "noted -> taken_over": "a sender adds a note | the timeline of its incident shows the note",
  },
})

export type PagedTrigger = Exclude<(typeof PagedAlertTransitions)[number]["trigger"], "forgotten" | "taken">
