import type { Agent } from "@tocsin/contract/v1/Resources"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { AgentStatus } from "@tocsin/contract/formats/Status"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { ServiceHeartbeatRecord } from "../../kernel/model/ServiceHeartbeatRecord.ts"
import { isInGrace } from "./outage.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { declaredLabels, titleOf } from "../model/titles.ts"

/** The facts that decide an agent's status besides `last_seen_at`. */
export interface StatusContext {
  readonly now: Instant.Instant
  readonly rules: RuleOptions
  readonly serviceHeartbeat: ServiceHeartbeatRecord | undefined
}

/**
 * An agent's status by the stale and dead thresholds. During the grace after an outage of the
 * service it is at most stale (docs/rules.md#outages-of-the-service). It depends on server time
 * only, so no job is needed.
 */
export const agentStatus = (
  lastSeenAt: Instant.Instant,
  { now, rules, serviceHeartbeat }: StatusContext,
): AgentStatus => {
  if (lastSeenAt > aliveSince(now, rules)) return "alive"
  const isSilent = lastSeenAt <= Instant.minus(now, rules.deadAfter)
  return isSilent && !isInGrace(serviceHeartbeat, now, rules) ? "dead" : "stale"
}

/** Agents last seen after this instant are alive. */
export const aliveSince = (now: Instant.Instant, rules: RuleOptions): Instant.Instant =>
  Instant.minus(now, rules.staleAfter)

/** The shortest threshold: four service heartbeats fit into it, each of which takes a commit. */
export const SHORTEST_THRESHOLD = Duration.seconds(2)

export const thresholdProblems = (
  thresholds: Pick<RuleOptions, "staleAfter" | "deadAfter">,
): ReadonlyArray<string> => {
  const { staleAfter, deadAfter } = thresholds
  const short = (["staleAfter", "deadAfter"] as const)
    .filter((name) => Duration.isLessThan(thresholds[name], SHORTEST_THRESHOLD))
    .map((name) => `${name} must be 2 seconds or longer`)
  return Duration.isGreaterThan(deadAfter, staleAfter)
    ? short
    : [...short, "deadAfter must be longer than staleAfter"]
}

/** When the contact of an agent began that is seen now: now, if it was stale (docs/rules.md#late-checks). */
export const reachableFrom = (
  { reachable_from, last_seen_at }: Pick<AgentRecord, "reachable_from" | "last_seen_at">,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Instant.Instant | undefined => (last_seen_at <= Instant.minus(now, staleAfter) ? now : reachable_from)

export const toAgent = (record: AgentRecord, context: StatusContext): Agent => {
  const labels = declaredLabels(record)
  return {
    agent_id: record.agent_id,
    hostname: record.hostname,
    status: agentStatus(record.last_seen_at, context),
    admission_state: record.admission_state,
    rotation_pending: record.admission_state === "accepted" && record.pending_key_hash !== undefined,
    key_fingerprint: record.key_fingerprint,
    last_seen_at: record.last_seen_at,
    features: record.features,
    ...(labels !== undefined && { labels }),
  }
}

/** An agent as operators see it. */
export const toTitledAgent = (record: AgentRecord, context: StatusContext) => ({
  ...toAgent(record, context),
  title: titleOf(record.labels) ?? null,
})
