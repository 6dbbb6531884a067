import { Effect, Schema } from "effect"
import { AgentFeatures } from "./AgentFeatures.ts"
import { Hostname } from "./Hostname.ts"
import { AgentId, KeyFingerprint } from "./Identifiers.ts"
import { Labels } from "./Labels.ts"
import { AdmissionState, AgentStatus } from "./Status.ts"
import { timestamp } from "./timestamp.ts"

/** An agent as operators see it. */
export const Agent = Schema.Struct({
  agent_id: AgentId,
  hostname: Hostname,
  status: AgentStatus,
  admission_state: AdmissionState,
  rotation_pending: Schema.Boolean.annotate({
    description: "Whether a pending key would replace an already accepted key of this agent.",
    default: false,
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  key_fingerprint: Schema.optionalKey(Schema.NullOr(KeyFingerprint)).annotateKey({
    description:
      "What to compare with the agent's own print of its key; of the pending key, if there is one.",
  }),
  last_seen_at: timestamp("When the service last heard of the agent."),
  features: AgentFeatures,
  labels: Schema.optionalKey(Labels),
}).annotate({ identifier: "Agent", description: "A monitored host or process that pushes to the service." })
export type Agent = typeof Agent.Type
