import { Schema } from "effect"
import { AgentFeatures } from "./AgentFeatures.ts"
import { closedStruct } from "./closedStruct.ts"
import { Hostname } from "./Hostname.ts"
import { AgentId } from "./Identifiers.ts"
import { Labels } from "./Labels.ts"
import { timestamp } from "./timestamp.ts"

/** The body of POST /api/v1/heartbeat. */
export const HeartbeatRequest = closedStruct({
  agent_id: AgentId,
  observed_at: timestamp("When the agent made the heartbeat, by its own clock."),
  hostname: Hostname,
  features: AgentFeatures,
  labels: Schema.optionalKey(Labels),
}).annotate({ identifier: "HeartbeatRequest", description: "A sign of life of one agent." })
export type HeartbeatRequest = typeof HeartbeatRequest.Type
