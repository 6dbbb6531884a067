import { hasTerms } from "../model/ExpectationRecord.ts"
import type { Duration } from "effect"
import type { AgentId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import { lookAfter } from "../freshness/dueTime.ts"
import { judgeExpectation } from "../freshness/judgeExpectation.ts"
import { byNow } from "../model/byNow.ts"

interface SetAgentInput {
  readonly agentId: AgentId
  /** When the service's last outage ended, if there was one. */
  readonly outageEnd: Instant.Instant | undefined
  readonly staleAfter: Duration.Duration
}

/**
 * After a clock was set back: the agent was seen by now, its checks have reported by now, and each
 * check that must report is looked at no later than it may be overdue (docs/decisions/0032). Writes
 * only what differs.
 */
export const setAgentRight = commandOf(function* (
  workspace,
  now,
  { agentId: agent_id, ...settings }: SetAgentInput,
): Decision<void> {
  yield* ensure(workspace, { agents: [agent_id] })
  const found = workspace.agents.get(agent_id)
  if (found === undefined) return
  const agent = byNow(found, ["last_seen_at", "contact_from"], now)
  if (agent !== found) workspace.putAgent(agent)
  yield* ensure(workspace, { expectationsOfAgents: [agent_id] })
  const expectations = workspace.expectations.group(agent.registration_id)
  yield* ensure(workspace, { checks: { agent_id, check_ids: expectations.map(({ check_id }) => check_id) } })
  for (const expected of expectations) {
    const reported = workspace.checks.get(expected)
    const check = reported && byNow(reported, ["received_at"], now)
    if (check !== undefined && check !== reported) workspace.checks.put(check)
    const expectation = byNow(expected, ["expected_from", "labelled_at"], now)
    if (!hasTerms(expectation)) {
      if (expectation !== expected) workspace.expectations.put(expectation)
      continue
    }
    const judged = judgeExpectation({ expectation, agent, check, ...settings }, now)
    const latest = judged.verdict === "in_time" ? lookAfter(judged.earliest) : now
    const isLate = expectation.look_at !== undefined && expectation.look_at > latest
    if (isLate) workspace.expectations.put({ ...expectation, look_at: latest })
    else if (expectation !== expected) workspace.expectations.put(expectation)
  }
})
