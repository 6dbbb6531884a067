/** The outcomes of a heartbeat that is counted (docs/rules.md#agent-keys, docs/rules.md#heartbeats). */
export const heartbeatOutcomes = [
  "seen",
  "pending",
  "registered",
  "replacement_registered",
  "preseeded",
  "blocked",
  "superseded_key",
  "key_of_another_agent",
  "name_of_integration",
  "another_key_pending",
  "too_many_pending_agents",
] as const
export type HeartbeatOutcome = (typeof heartbeatOutcomes)[number] | "unknown_key"

/** The outcome of an enrolment. `repeated`: the key was accepted before. */
export const enrolOutcomes = [
  "enrolled",
  "repeated",
  "unknown_token",
  "replacement_key",
  "name_of_place",
  "agent_blocked",
  "agent_not_accepted",
] as const
export type EnrolOutcome = (typeof enrolOutcomes)[number]
