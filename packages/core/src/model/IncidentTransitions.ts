import { stateTable } from "@tocsin/contract/TransitionTable"

/**
 * Transitions of an incident (docs/rules.md#incidents). A resolved incident never reopens: new
 * trouble opens a new one.
 */
export const IncidentTransitions = stateTable({
  absent: {
    "member_joined -> open":
      "a check turns not ok, moves from another incident, or its agent turns dead; no incident of its key is open | a firing is enqueued for each enabled notifier, if the event allows notifications",
  },
  open: {
    "member_joined -> open":
      "another check of the same key turns not ok, or moves from another incident | severity follows the worst member; if the event allows notifications, a firing is enqueued for each enabled notifier that has none at this severity or a higher one, discarded ones aside",
    "member_changed -> open":
      "a member changes from one failing status to another | severity follows the worst member; if the member worsened, firings as above",
    "member_left -> open":
      "a member turns ok, moves to another incident or is deleted, and others remain | severity, summary and the ids of a single member follow the remaining members",
    "last_member_left -> resolved":
      "the last member turns ok, moves to another incident or is deleted, or a dead agent makes contact | firings never attempted are discarded; if the event allows notifications, a resolved is enqueued for each notifier of which a firing was attempted and not refused; if the agent was deleted or blocked instead, pending and waiting firings are discarded, and a resolved is enqueued for each notifier of which a firing was sent or is being sent",
  },
})
