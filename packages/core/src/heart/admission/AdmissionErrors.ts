import { Schema } from "effect"

/** The key is blocked: its heartbeats and events are refused (docs/rules.md#registration). */
export class AgentBlocked extends Schema.TaggedError<AgentBlocked>()("AgentBlocked", {
  message: Schema.String,
}) {}

/** The key is not accepted for this agent ID (docs/rules.md#registration). */
export class AgentNotAccepted extends Schema.TaggedError<AgentNotAccepted>()("AgentNotAccepted", {
  message: Schema.String,
}) {}

/** The token has the shape of an operator's token, and is no agent's key (docs/rules.md#operators). */
export class NotAnAgentKey extends Schema.TaggedError<NotAnAgentKey>()("NotAnAgentKey", {
  message: Schema.String,
}) {}

/** No agent has this ID (docs/rules.md#errors). */
export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  message: Schema.String,
}) {}

/** {@link AgentNotFound} with what to do next. */
export const agentNotFound = (): AgentNotFound =>
  new AgentNotFound({
    message: "no agent has this agent_id; list agents with GET /api/v1/agents",
  })

/** The key and the agent ID of a heartbeat contradict each other (docs/rules.md#registration). */
export class KeyConflict extends Schema.TaggedError<KeyConflict>()("KeyConflict", {
  reason: Schema.Literals([
    "superseded_key",
    "key_of_another_agent",
    "name_of_integration",
    "another_key_pending",
    "replacement_key",
    "name_of_place",
  ]),
  message: Schema.String,
}) {}

/** The request exceeds a configured rate or volume (docs/rules.md#rate-limits). */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  message: Schema.String,
  /** Seconds until another try may succeed. */
  retryAfterSeconds: Schema.Int,
}) {}
