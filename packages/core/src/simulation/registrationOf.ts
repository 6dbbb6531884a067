import type { AgentId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import type { HeartbeatRequest } from "../contract/Requests.ts"

/** Older than any heartbeat, so that the fields of a real heartbeat replace these. */
const LONG_AGO = Instant.fromMicros(-62_135_596_800_000_000n)

/** The heartbeat that registers an agent of which only results are known. */
export const registrationOf = (agent_id: AgentId): HeartbeatRequest => ({
  agent_id,
  observed_at: LONG_AGO,
  hostname: agent_id,
  features: { push: true, metrics: false },
})
