import { stateTable } from "@tocsin/contract/TransitionTable"

/** Transitions of an enrolment (docs/rules.md#enrolment). Its uses and its end are stored, its state is computed. */
export const EnrolmentTransitions = stateTable({
  absent: {
    "created -> open": "an operator creates it | its token is shown once",
  },
  open: {
    "enrolled -> open":
      "a pending agent without an accepted key shows its token, and another use is left | the agent is accepted",
    "last_enrolled -> used": "as above, with the last use | the agent is accepted",
    "ended -> expired": "its end has come | its token is refused",
    "removed -> absent":
      "an operator deletes it | its token is refused; agents that it admitted stay accepted",
  },
  used: {
    "removed -> absent": "an operator deletes it, or retention removes it",
  },
  expired: {
    "removed -> absent": "an operator deletes it, or retention removes it",
  },
})
