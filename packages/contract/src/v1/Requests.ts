import { Schema } from "effect"
import { booleanOr, closedStruct, named, NonNegativeInteger, timestamp } from "../formats/Fields.ts"
import { AgentId, CheckId, EventId, IncidentKey } from "../formats/Identifiers.ts"
import { Labels } from "../labels/Labels.ts"
import { CheckStatus } from "../formats/Status.ts"
import { CheckOutput, Hostname } from "../formats/Text.ts"

export const AgentFeatures = closedStruct({
  push: Schema.Boolean.annotate({ description: "The agent pushes heartbeats and events to the service." }),
  metrics: Schema.Boolean.annotate({ description: "The agent exposes a text-based metrics endpoint." }),
}).annotate(named("AgentFeatures", "The agent's abilities."))
export type AgentFeatures = typeof AgentFeatures.Type

export const HeartbeatRequest = closedStruct({
  agent_id: AgentId,
  observed_at: timestamp("When the agent made the heartbeat, by its own clock."),
  hostname: Hostname,
  features: AgentFeatures,
  labels: Schema.optionalKey(Labels),
}).annotate(named("HeartbeatRequest", "A sign of life of one agent."))
export type HeartbeatRequest = typeof HeartbeatRequest.Type

/** One result of one check, as its agent sends it (docs/rules.md#timestamps). */
export const CheckResultEvent = closedStruct({
  event_id: EventId,
  check_id: CheckId,
  observed_at: timestamp("When the check ran, by the agent's clock."),
  status: CheckStatus,
  exit_code: Schema.Int.annotate({ description: "The exit code of the check." }),
  duration_ms: NonNegativeInteger.annotate({ description: "How long the check ran, in milliseconds." }),
  output: Schema.optionalKey(CheckOutput),
  output_truncated: booleanOr(false, "Whether the agent cut the output."),
  notifications_enabled: booleanOr(
    true,
    "When false, the service stores state and incidents but enqueues no notification for this event.",
  ),
  incident_key: Schema.optionalKey(IncidentKey),
}).annotate(named("CheckResultEvent", "One result of one check."))
export type CheckResultEvent = typeof CheckResultEvent.Type

/** The largest batch (docs/rules.md#values). */
export const MAX_EVENTS = 200
export const BATCH_SIZE_RULE = `must contain 1 to ${MAX_EVENTS} events`

const hasBatchSize = Schema.makeFilter<ReadonlyArray<unknown>>(
  (events) => events.length >= 1 && events.length <= MAX_EVENTS,
  {
    message: BATCH_SIZE_RULE,
    expected: `an array of 1 to ${MAX_EVENTS} events`,
    description: "Applied in this order, all or none.",
    toJsonSchema: () => ({ minItems: 1, maxItems: MAX_EVENTS }),
  },
)

/** The body of POST /api/v1/events: 1 to 200 results of one agent, in order. */
export const EventBatchRequest = closedStruct({
  agent_id: AgentId,
  events: Schema.Array(CheckResultEvent).check(hasBatchSize),
}).annotate(named("EventBatchRequest", "Results of checks of one agent."))
export type EventBatchRequest = typeof EventBatchRequest.Type
