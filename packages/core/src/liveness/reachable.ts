import type { Duration } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import * as Instant from "@tocsin/contract/Instant"

/**
 * When the contact of an agent began that is seen now: now, if it was stale
 * (docs/rules.md#overdue-checks).
 */
export const reachableFrom = (
  { reachable_from, last_seen_at }: Pick<AgentRecord, "reachable_from" | "last_seen_at">,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Instant.Instant | undefined => (last_seen_at <= Instant.minus(now, staleAfter) ? now : reachable_from)
