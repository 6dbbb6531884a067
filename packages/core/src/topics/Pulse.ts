import { move } from "@tocsin/contract/TransitionTable"
import { PulseTransitions } from "../model/PulseTransitions.ts"
import { NO_TOPICS, type Topics } from "./Topics.ts"

/** Where the streams of a process are between two events: see `PulseTransitions`. */
export type Pulse =
  | { readonly state: "quiet" | "resting" }
  /** What has changed since the last event. */
  | { readonly state: "gathering"; readonly topics: Topics }

export const QUIET: Pulse = { state: "quiet" }

/** A pulse after something happened, and the event to send now; none without topics. */
export interface Beat {
  readonly pulse: Pulse
  readonly event: Topics
}

/** Topics have changed. */
export const changed = (pulse: Pulse, topics: Topics): Beat => {
  if (pulse.state === "quiet")
    return { pulse: { state: move(PulseTransitions, "quiet", "changed") }, event: topics }
  const kept = pulse.state === "gathering" ? pulse.topics : NO_TOPICS
  const state = move(PulseTransitions, pulse.state, "changed")
  return { pulse: { state, topics: kept | topics }, event: NO_TOPICS }
}

/** A second has passed since the last event. */
export const secondPassed = (pulse: Pulse): Beat => {
  switch (pulse.state) {
    case "gathering":
      return {
        pulse: { state: move(PulseTransitions, "gathering", "second_passed") },
        event: pulse.topics,
      }
    case "resting":
      return { pulse: { state: move(PulseTransitions, "resting", "second_passed") }, event: NO_TOPICS }
    default:
      return { pulse, event: NO_TOPICS }
  }
}
