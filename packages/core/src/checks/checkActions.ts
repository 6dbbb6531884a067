import { type AgentRecord, uncount } from "../admission/AgentRecord.ts"
import type { AgentId, CheckId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { Command, Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { HEARTBEAT } from "../incidents/MemberRecord.ts"
import type { CheckRecord } from "./CheckRecord.ts"

/** The result of an action on one check. */
export type CheckActionOutcome =
  | { readonly outcome: "done"; readonly count: number }
  | { readonly outcome: "no_such_agent" | "no_such_check" }

const onCheck = (
  ref: { readonly agent_id: AgentId; readonly check_id: CheckId },
  act: (
    workspace: Workspace,
    agent: AgentRecord,
    check: CheckRecord,
    now: Instant,
  ) => number | Decision<number>,
): Command<CheckActionOutcome> =>
  function* (workspace, now) {
    const { agent_id, check_id } = ref
    yield* ensure(workspace, { agents: [agent_id], checks: { agent_id, check_ids: [check_id] } })
    const agent = workspace.agents.get(agent_id)
    if (agent === undefined) return { outcome: "no_such_agent" }
    const check = workspace.checks.get({ agent_id, registration_id: agent.registration_id, check_id })
    if (check === undefined || check_id === HEARTBEAT) return { outcome: "no_such_check" }
    const count = act(workspace, agent, check, now)
    return { outcome: "done", count: typeof count === "number" ? count : yield* count }
  }

/**
 * Releases a check frozen by an agent's clock in the future: results count again from the arrival
 * of the last applied one. Count 0 if the clock was not ahead (docs/rules.md#clocks-in-the-future).
 */
export const resetClock = (ref: { readonly agent_id: AgentId; readonly check_id: CheckId }) =>
  onCheck(ref, (workspace, _agent, check) => {
    if (check.last_observed_at <= check.received_at) return 0
    workspace.checks.put({ ...check, last_observed_at: check.received_at })
    return 1
  })

/**
 * Deletes a check that its agent no longer runs, with its history. It leaves its incident like a
 * check of a deleted agent (docs/rules.md#deleting-an-agent).
 */
export const removeCheck = (
  ref: { readonly agent_id: AgentId; readonly check_id: CheckId },
  options: IncidentOptions,
) =>
  onCheck(ref, function* (workspace, agent, check, now) {
    if (check.incident_id !== undefined) {
      const member = { incident_id: check.incident_id, agent_id: check.agent_id, check_id: check.check_id }
      yield* new Incidents(workspace, now, options).leave(member, { by: "agent_gone" })
    }
    workspace.removeCheck(check)
    workspace.putAgent(uncount(agent, check.status))
    return 1
  })
