import { move, stateTable } from "@tocsin/contract/TransitionTable"
import { NO_TOPICS, type Topics } from "./Topics.ts"

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

/** Where the streams of a process are between two events: see `EventThrottleTransitions`. */
export type EventThrottle =
  | { readonly state: "quiet" | "resting" }
  /** The topics that have changed since the last event. */
  | { readonly state: "gathering"; readonly topics: Topics }

export const QUIET: EventThrottle = { state: "quiet" }

/** A throttle after something happened, and the event to send now; none without topics. */
export interface Throttled {
  readonly throttle: EventThrottle
  readonly event: Topics
}

/** Topics have changed. */
export const changed = (throttle: EventThrottle, topics: Topics): Throttled => {
  if (throttle.state === "quiet")
    return { throttle: { state: move(EventThrottleTransitions, "quiet", "changed") }, event: topics }
  const kept = throttle.state === "gathering" ? throttle.topics : NO_TOPICS
  const state = move(EventThrottleTransitions, throttle.state, "changed")
  return { throttle: { state, topics: kept | topics }, event: NO_TOPICS }
}

/** A second has passed since the last event. */
export const secondPassed = (throttle: EventThrottle): Throttled => {
  switch (throttle.state) {
    case "gathering":
      return {
        throttle: { state: move(EventThrottleTransitions, "gathering", "second_passed") },
        event: throttle.topics,
      }
    case "resting":
      return {
        throttle: { state: move(EventThrottleTransitions, "resting", "second_passed") },
        event: NO_TOPICS,
      }
    default:
      return { throttle, event: NO_TOPICS }
  }
}
