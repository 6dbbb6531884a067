import type { Transition } from "@tocsin/contract/TransitionTable"

/**
 * Transitions of an incident (docs/rules.md#incidents). A resolved incident never reopens: new
 * trouble opens a new one.
 */
export const IncidentTransitions = [
  {
    from: "absent",
    trigger: "member_joined",
    condition:
      "a check turns not ok, moves from another incident, or its agent turns dead; no incident of its key is open",
    to: "open",
    effects: "a firing is enqueued for each enabled notifier, if the event allows notifications",
  },
  {
    from: "open",
    trigger: "member_joined",
    condition: "another check of the same key turns not ok, or moves from another incident",
    to: "open",
    effects:
      "severity follows the worst member; if the event allows notifications, a firing is enqueued for each enabled notifier that has none at this severity or a higher one, discarded ones aside",
  },
  {
    from: "open",
    trigger: "member_changed",
    condition: "a member changes from one failing status to another",
    to: "open",
    effects: "severity follows the worst member; if the member worsened, firings as above",
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
    condition:
      "the last member turns ok, moves to another incident or is deleted, or a dead agent makes contact",
    to: "resolved",
    effects:
      "firings never attempted are discarded; if the event allows notifications, a resolved is enqueued for each notifier of which a firing was attempted and not refused; if the agent was deleted or blocked instead, pending and waiting firings are discarded, and a resolved is enqueued for each notifier of which a firing was sent or is being sent",
  },
] as const satisfies ReadonlyArray<Transition>
