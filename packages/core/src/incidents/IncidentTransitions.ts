import type { Transition } from "../engine/TransitionTable.ts"

/**
 * Transitions of an incident (docs/rules.md#incidents). A resolved incident never reopens: new
 * trouble opens a new one.
 */
export const IncidentTransitions = [
  {
    from: "absent",
    trigger: "member_joined",
    condition: "a check turns not ok and no incident of its key is open",
    to: "open",
    effects: "a firing is enqueued for each enabled notifier, if the event allows notifications",
  },
  {
    from: "open",
    trigger: "member_joined",
    condition: "another check of the same key turns not ok",
    to: "open",
    effects:
      "severity follows the worst member; a firing unless one was sent at this severity or a higher one",
  },
  {
    from: "open",
    trigger: "member_changed",
    condition: "a member changes from one failing status to another",
    to: "open",
    effects: "severity follows the worst member; when the member worsened, a firing as above",
  },
  {
    from: "open",
    trigger: "member_left",
    condition: "a member turns ok, moves to another incident or is deleted, and others remain",
    to: "open",
    effects: "severity, summary and the ids of a single member follow the remaining members",
  },
  {
    from: "open",
    trigger: "last_member_left",
    condition: "the last member turns ok, moves to another incident or is deleted",
    to: "resolved",
    effects: "firings without an attempt are discarded; a resolved is enqueued if a firing was attempted",
  },
] as const satisfies ReadonlyArray<Transition>
