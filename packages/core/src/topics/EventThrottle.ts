import { move } from "@tocsin/contract/TransitionTable"
import { EventThrottleTransitions } from "../model/EventThrottleTransitions.ts"
import { NO_TOPICS, type Topics } from "./Topics.ts"

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
