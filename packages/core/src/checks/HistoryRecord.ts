import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import type { AgentId, RegistrationId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"

/**
 * A result that changed (status, exit_code): one row of a check's history. `seq` is given by the storage when the row is
 * stored and grows from row to row, within a batch in array order; history is listed by it (docs/rules.md#tokens).
 */
export interface HistoryRecord extends CheckResultEvent {
  readonly agent_id: AgentId
  readonly registration_id: RegistrationId
  readonly received_at: Instant
}
