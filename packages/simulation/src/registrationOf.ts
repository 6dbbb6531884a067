import * as Instant from "@tocsin/contract/Instant"
import type { HeartbeatRequest } from "@tocsin/contract/Requests"

/** Older than any heartbeat, so that the fields of a real heartbeat replace these. */
const LONG_AGO = Instant.fromMicros(-62_135_596_800_000_000n)

/** The facts about an agent without its heartbeats. */
export interface KnownAgent extends Pick<HeartbeatRequest, "agent_id" | "hostname" | "labels"> {}

/** The heartbeat that registers such an agent. */
export const registrationOf = (agent: KnownAgent): HeartbeatRequest => ({
  ...agent,
  observed_at: LONG_AGO,
  features: { push: true, metrics: false },
})
