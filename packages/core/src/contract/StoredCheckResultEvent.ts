import { Schema } from "effect"
import { CheckResultEvent } from "./EventBatchRequest.ts"
import { AgentId } from "./Identifiers.ts"
import { timestamp } from "./timestamp.ts"

/** A result that changed its check, as the history keeps it. */
export const StoredCheckResultEvent = Schema.Struct({
  ...CheckResultEvent.fields,
  agent_id: AgentId,
  received_at: timestamp("When the service received it, by the server's clock."),
}).annotate({
  identifier: "StoredCheckResultEvent",
  description: "A result that changed the status of its check.",
})
export type StoredCheckResultEvent = typeof StoredCheckResultEvent.Type
