import type { Transition } from "@tocsin/contract/TransitionTable"

/**
 * When a process sends an event to its streams: immediately, but at most one a second
 * (docs/rules.md#live-views).
 */
export const EventThrottleTransitions = [
  {
    from: "quiet",
    trigger: "changed",
    condition: "a commit changed topics, or another process announced some",
    to: "resting",
    effects: "an event with these topics",
  },
  {
    from: "resting",
    trigger: "changed",
    condition: "as above, within a second of the last event",
    to: "gathering",
    effects: "the topics are kept",
  },
  {
    from: "gathering",
    trigger: "changed",
    condition: "as above",
    to: "gathering",
    effects: "the topics are added to those kept",
  },
  {
    from: "resting",
    trigger: "second_passed",
    condition: "a second has passed since the last event",
    to: "quiet",
    effects: "none",
  },
  {
    from: "gathering",
    trigger: "second_passed",
    condition: "as above",
    to: "resting",
    effects: "an event with the kept topics",
  },
] as const satisfies ReadonlyArray<Transition>
