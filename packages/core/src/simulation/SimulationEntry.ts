import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import type { HeartbeatRequest } from "../contract/HeartbeatRequest.ts"
import type { AgentId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"

/** Something that the service received, and when. */
export type SimulationEntry =
  | { readonly entry: "heartbeat"; readonly received_at: Instant; readonly request: HeartbeatRequest }
  | ResultsEntry

/** Results of one agent that are decided together, as the service decides a batch. */
export interface ResultsEntry {
  readonly entry: "results"
  readonly received_at: Instant
  readonly agent_id: AgentId
  readonly events: ReadonlyArray<CheckResultEvent>
  /** Whether it is a row of the history, one of possibly many that arrived as one batch. */
  readonly isStored: boolean
}
