import type { Transition } from "@tocsin/contract/TransitionTable"

/** When a timer writes a firing. */
const FREE = "the incident is open, has a loud member, and is neither acknowledged nor covered"

/**
 * What a receiver of an incident's routes knows of it, by the firings in the outbox, and what timers
 * do about it (docs/rules.md#timers). Nothing stores these states.
 */
export const TimerTransitions = [
  {
    from: "not_notified",
    trigger: "step_came",
    condition: `the incident has been open for the receiver's step; ${FREE}`,
    to: "under_way",
    effects: "a firing, cause escalation",
  },
  {
    from: "not_notified",
    trigger: "ack_ran_out",
    condition: "an acknowledgement expires, a loud member is present and the receiver's step has come",
    to: "under_way",
    effects: "a firing, cause ack_ran_out",
  },
  {
    from: "under_way",
    trigger: "ack_ran_out",
    condition: "as above, and a firing that was never attempted waits for this receiver",
    to: "under_way",
    effects: "that firing has the cause ack_ran_out",
  },
  {
    from: "notified",
    trigger: "ack_ran_out",
    condition: "as above",
    to: "under_way",
    effects: "a firing, cause ack_ran_out",
  },
  {
    from: "notified",
    trigger: "reminder_due",
    condition: `the last attempt is as long ago as the route's remind; ${FREE}`,
    to: "under_way",
    effects: "a firing, cause reminder",
  },
] as const satisfies ReadonlyArray<Transition>
