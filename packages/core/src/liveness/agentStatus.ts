import * as Instant from "../contract/Instant.ts"
import type { AgentStatus } from "../contract/Status.ts"
import type { PolicyOptions } from "../ports/Policy.ts"

/**
 * Whether an agent was heard of lately: alive before the stale threshold has passed, stale before the dead one, dead
 * after (decisions §5). By server time only, so it needs no job to be right.
 */
export const agentStatus = (lastSeenAt: Instant.Instant, now: Instant.Instant, policy: PolicyOptions): AgentStatus => {
  if (lastSeenAt > aliveSince(now, policy)) return "alive"
  return lastSeenAt > Instant.minus(now, policy.deadAfter) ? "stale" : "dead"
}

/** Agents last seen after this instant are alive. */
export const aliveSince = (now: Instant.Instant, policy: PolicyOptions): Instant.Instant =>
  Instant.minus(now, policy.staleAfter)
