import type { AgentId } from "../contract/Identifiers.ts"
import { type IncidentOptions, Incidents } from "../incidents/Incidents.ts"
import type { MemberRef } from "../incidents/MemberRecord.ts"
import { HEARTBEAT } from "../liveness/heartbeatIncident.ts"
import type { Command } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import { uncount } from "./AgentRecord.ts"
import { membershipsInOrder } from "./removeAgent.ts"

/** The memberships of an agent's checks, in the order in which a deletion takes them out. Changes nothing. */
export const failingChecks =
  (agentId: AgentId): Command<ReadonlyArray<MemberRef>> =>
  (workspace) =>
    (function* () {
      yield* ensure(workspace, { agents: [agentId] })
      const agent = workspace.agents.get(agentId)
      if (agent === undefined) return []
      const memberships = yield* membershipsInOrder(workspace, agent)
      return memberships.filter(({ check_id }) => check_id !== HEARTBEAT)
    })()

/**
 * One bounded piece of a deletion: these checks go, and leave their incidents as those of a deleted agent do. Their history
 * stays until the agent itself goes. A check that has recovered or moved meanwhile is left alone.
 */
export const withdrawChecks =
  (agentId: AgentId, refs: ReadonlyArray<MemberRef>, options: IncidentOptions): Command<void> =>
  (workspace, now) =>
    (function* () {
      const check_ids = refs.map(({ check_id }) => check_id)
      yield* ensure(workspace, { agents: [agentId], checks: { agent_id: agentId, check_ids } })
      let agent = workspace.agents.get(agentId)
      if (agent === undefined) return
      const { registration_id } = agent
      const checks = refs.flatMap((ref) => {
        const check = workspace.checks.get({ ...ref, registration_id })
        return check?.incident_id === ref.incident_id ? { ref, check } : []
      })
      const members = checks.map(({ ref }) => ref)
      yield* ensure(workspace, { incidents: members.map((ref) => ref.incident_id), members })
      const incidents = new Incidents(workspace, now, options)
      for (const { ref, check } of checks) {
        yield* incidents.leave(ref, { by: "agent_gone" })
        workspace.checks.delete(check)
        agent = uncount(agent, check.status)
      }
      workspace.putAgent(agent)
    })()
