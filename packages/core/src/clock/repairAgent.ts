import { hasTerms } from "../model/ExpectationRecord.ts"
import type { Duration } from "effect"
import type { AgentId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { evaluationAfter } from "../overdue/dueTime.ts"
import { judgeExpectation } from "../overdue/judgeExpectation.ts"
import { clampToNow } from "../model/clampToNow.ts"

interface SetAgentInput {
  readonly agentId: AgentId
  /** When the service's last outage ended, if there was one. */
  readonly outageEnd: Instant.Instant | undefined
  readonly staleAfter: Duration.Duration
}

/**
 * After a clock was set back: the agent was seen by now, its checks have reported by now, and each
 * check that must report is evaluated no later than it may be overdue (docs/decisions/0032). Writes
 * only what differs.
 */
export const repairAgent = commandOf(function* (
  unit,
  now,
  { agentId: agent_id, ...settings }: SetAgentInput,
): Decision<void> {
  yield* load(unit, { agents: [agent_id] })
  const found = unit.agents.get(agent_id)
  if (found === undefined) return
  const agent = clampToNow(found, ["last_seen_at", "reachable_from"], now)
  if (agent !== found) unit.putAgent(agent)
  yield* load(unit, { groups: { expectation: [agent] } })
  const expectations = unit.expectations.group(agent.registration_id)
  yield* load(unit, { checks: { agent_id, check_ids: expectations.map(({ check_id }) => check_id) } })
  for (const expected of expectations) {
    const reported = unit.checks.get(expected)
    const check = reported && clampToNow(reported, ["received_at"], now)
    if (check !== undefined && check !== reported) unit.checks.put(check)
    const expectation = clampToNow(expected, ["expected_from", "labelled_at"], now)
    if (!hasTerms(expectation)) {
      if (expectation !== expected) unit.expectations.put(expectation)
      continue
    }
    const judged = judgeExpectation({ expectation, agent, check, ...settings }, now)
    const latest = judged.verdict === "in_time" ? evaluationAfter(judged.earliest) : now
    const isLate = expectation.next_evaluation_at !== undefined && expectation.next_evaluation_at > latest
    if (isLate) unit.expectations.put({ ...expectation, next_evaluation_at: latest })
    else if (expectation !== expected) unit.expectations.put(expectation)
  }
})
