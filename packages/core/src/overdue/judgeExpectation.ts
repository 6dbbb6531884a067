import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { dueOfStarts, dueTime, longestRun } from "./dueTime.ts"
import type { WithTerms } from "../model/ExpectationRecord.ts"

/** The facts that decide whether a check is overdue. */
export interface OverdueFacts {
  readonly expectation: WithTerms
  readonly agent: Pick<AgentRecord, "last_seen_at" | "reachable_from">
  /** Absent if it never reported. */
  readonly check: Pick<CheckRecord, "received_at"> | undefined
  /** When the service's last outage ended, if there was one. */
  readonly outageEnd: Instant.Instant | undefined
  readonly staleAfter: Duration.Duration
}

/**
 * The verdict of an evaluation. `waiting`: its agent has not been seen since the due time, but is not
 * stale yet, so that the next evaluation comes soon and nothing is written until then.
 */
export type Verdict =
  | { readonly verdict: "overdue"; readonly due: Instant.Instant }
  | { readonly verdict: "in_time"; readonly earliest: Instant.Instant }
  | { readonly verdict: "waiting" }

/** Whether a check is overdue now, and the earliest time at which it may be if not (docs/rules.md#freshness). */
export const judgeExpectation = (
  { agent, check, expectation, outageEnd, staleAfter }: OverdueFacts,
  now: Instant.Instant,
): Verdict => {
  const { terms } = expectation
  const due = dueTime(expectation, check?.received_at)
  const after = due === dueOfStarts(terms) ? longestRun(terms) : Duration.millis(terms.after_millis)
  const lasting = (since: Instant.Instant | undefined) =>
    since === undefined ? due : Instant.plus(since, after)
  const earliest = Instant.max(due, Instant.max(lasting(agent.reachable_from), lasting(outageEnd)))
  if (now < earliest) return { verdict: "in_time", earliest }
  if (agent.last_seen_at >= due) return { verdict: "overdue", due }
  // The contact of a stale agent begins with its next heartbeat, and must then last.
  const isStale = agent.last_seen_at <= Instant.minus(now, staleAfter)
  return isStale ? { verdict: "in_time", earliest: Instant.plus(now, after) } : { verdict: "waiting" }
}
