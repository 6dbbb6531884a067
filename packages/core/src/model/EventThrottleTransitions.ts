import { stateTable } from "@tocsin/contract/TransitionTable"

/**
 * When a process sends an event to its streams: immediately, but at most one a second
 * (docs/rules.md#live-views).
 */
export const EventThrottleTransitions = stateTable({
  quiet: {
    "changed -> resting":
      "a commit changed topics, or another process announced some | an event with these topics",
  },
  resting: {
    "changed -> gathering": "as above, within a second of the last event | the topics are kept",
    "second_passed -> quiet": "a second has passed since the last event",
  },
  gathering: {
    "changed -> gathering": "as above | the topics are added to those kept",
    "second_passed -> resting": "as above | an event with the kept topics",
  },
})
