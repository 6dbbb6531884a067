import { Schema } from "effect"
import { closedStruct } from "./closedStruct.ts"

/** What an agent can do. */
export const AgentFeatures = closedStruct({
  push: Schema.Boolean.annotate({ description: "The agent pushes heartbeats and events to the service." }),
  metrics: Schema.Boolean.annotate({ description: "The agent exposes a text-based metrics endpoint." }),
}).annotate({ identifier: "AgentFeatures", description: "What the agent can do." })
export type AgentFeatures = typeof AgentFeatures.Type
