import { stateTable } from "@tocsin/contract/TransitionTable"

/**
 * Whether the service itself has lost its network (docs/rules.md#cut-off). The state is that of the open
 * incident AGENT/@place: none, one that is younger than two minutes, or an older one.
 */
export const CutOffTransitions = stateTable({
  connected: {
    "most_failed -> holding":
      "a result that is not ok would count, while more than 80 % of the watches that were well, and at least five, failed their latest probe | the incident AGENT/@place opens (critical); the result does not count",
  },
  holding: {
    "most_failed -> holding": "as above | the result does not count",
    "time_over -> lost": "two minutes have passed | results count again",
    "some_answered -> connected": "80 % of them or fewer than five fail | the incident resolves",
  },
  lost: {
    "most_failed -> lost": "as above | the result counts",
    "some_answered -> connected": "80 % of them or fewer than five fail | the incident resolves",
  },
})
