import { Effect } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Commits } from "../engine/commits/Commits.ts"
import { move } from "@tocsin/contract/TransitionTable"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { lastOutage } from "../liveness/outage.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { byAgent } from "./byAgent.ts"
import { type ExpectationRecord, hasTerms } from "../model/ExpectationRecord.ts"
import { ExpectationTransitions } from "../model/ExpectationTransitions.ts"
import { lookAfter } from "./dueTime.ts"
import { followPolicy } from "./followPolicy.ts"
import { judgeExpectation } from "./judgeExpectation.ts"
import { becomeOverdue } from "./staleIncident.ts"

interface LookInput {
  readonly agentId: AgentId
  readonly checkIds: ReadonlyArray<CheckId>
  readonly outageEnd: Instant.Instant | undefined
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
}

/**
 * Looks at expectations of one agent that may be overdue: these join their incident, the others are
 * looked at again later. Ignores what changed since they were found. Safe with several replicas.
 */
export const lookAtExpectations = commandOf(function* (workspace, now, input: LookInput): Decision<void> {
  const { agentId: agent_id, checkIds: check_ids, rules } = input
  yield* ensure(workspace, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = workspace.agents.get(agent_id)
  if (agent === undefined) return
  yield* ensure(workspace, { expectations: { agent_id, check_ids } })
  const incidents = new Incidents(workspace, now, input.incidents)
  const { staleAfter } = rules
  const inForce = { policy: input.incidents.policy(), staleAfter, now }
  for (const check_id of check_ids) {
    const ref = { agent_id, check_id, registration_id: agent.registration_id }
    const expectation = workspace.expectations.get(ref)
    if (!hasTerms(expectation) || expectation.look_at === undefined || expectation.look_at > now) continue
    yield* followPolicy(workspace, incidents, { agent, check_id }, inForce)
    // Another one is looked at in its own time.
    if (workspace.expectations.get(ref) !== expectation) continue
    const check = workspace.checks.get(ref)
    const facts = { expectation, agent, check, outageEnd: input.outageEnd, staleAfter }
    const judged = judgeExpectation(facts, now)
    if (judged.verdict === "overdue") yield* becomeOverdue(workspace, incidents, expectation, judged.due)
    if (judged.verdict === "in_time") {
      move(ExpectationTransitions, "expected", "found_in_time")
      workspace.expectations.put({ ...expectation, look_at: lookAfter(judged.earliest) })
    }
  }
})

/** Agents at a time: storages that commit in groups fill them. */
const AT_A_TIME = 16

interface Looking {
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
  /** Expectations per read. */
  readonly limit: number
}

/**
 * Looks at every expectation that may be overdue now, page by page. One that waits for its agent is
 * due again at the next round.
 */
export const lookAtDueExpectations = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { incidents, limit, rules }: Looking,
): Effect.fn.Return<void, StorageError> {
  let after: ExpectationRecord | undefined
  for (;;) {
    const now = yield* Instant.now
    const due = yield* storage.dueExpectations({ now, after, limit })
    if (due.length > 0) {
      const mark = yield* storage.mark
      const outageEnd = lastOutage(mark, now, rules)?.ended_at
      yield* Effect.forEach(
        byAgent(due),
        ([agentId, rows]) =>
          commits.transact(
            lookAtExpectations({
              agentId,
              checkIds: rows.map(({ check_id }) => check_id),
              outageEnd,
              rules,
              incidents,
            }),
          ),
        { concurrency: AT_A_TIME, discard: true },
      )
    }
    if (due.length < limit) return
    after = due.at(-1)
  }
})
