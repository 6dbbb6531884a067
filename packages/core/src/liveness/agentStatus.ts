import * as Instant from "../contract/Instant.ts"
import type { AgentStatus } from "../contract/Status.ts"
import type { PolicyOptions } from "../ports/Policy.ts"
import type { MarkRecord } from "./MarkRecord.ts"
import { isInGrace } from "./outage.ts"

/** What an agent's status depends on besides when it was seen. */
export interface StatusContext {
  readonly now: Instant.Instant
  readonly policy: PolicyOptions
  /** The service's sign of life. */
  readonly mark: MarkRecord | undefined
}

/**
 * Whether an agent was heard of lately: alive before the stale threshold has passed, stale before the dead one, dead
 * after; but no more than stale while agents may still be on their way back after an outage of the service (docs/rules.md#outages-of-the-service).
 * By server time only, so it needs no job to be right.
 */
export const agentStatus = (
  lastSeenAt: Instant.Instant,
  { now, policy, mark }: StatusContext,
): AgentStatus => {
  if (lastSeenAt > aliveSince(now, policy)) return "alive"
  const isSilent = lastSeenAt <= Instant.minus(now, policy.deadAfter)
  return isSilent && !isInGrace(mark, now, policy) ? "dead" : "stale"
}

/** Agents last seen after this instant are alive. */
export const aliveSince = (now: Instant.Instant, policy: PolicyOptions): Instant.Instant =>
  Instant.minus(now, policy.staleAfter)
