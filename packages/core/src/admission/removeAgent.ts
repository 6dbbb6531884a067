import { type Duration, Effect } from "effect"
import type { AgentId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import { move } from "../engine/TransitionTable.ts"
import type { Command, Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { compareMembers, HEARTBEAT, type MemberRecord, type MemberRef } from "../incidents/MemberRecord.ts"
import type { Storage } from "../ports/Storage.ts"
import { AgentKeyTransitions, AgentTransitions } from "./AdmissionTransitions.ts"
import { type AgentRecord, uncount } from "./AgentRecord.ts"

/**
 * Of the members of one incident, the one that speaks for it leaves last: what a resolved incident goes on to show must not
 * depend on the order in which a storage loads memberships.
 */
const compareLeaving = (a: MemberRecord, b: MemberRecord): number =>
  a.incident_id === b.incident_id ? compareMembers(b, a) : a.incident_id < b.incident_id ? -1 : 1

/** The present memberships of an agent, in the order in which they leave. */
function* membershipsInOrder(
  workspace: Workspace,
  agent: AgentRecord,
): Decision<ReadonlyArray<MemberRecord>> {
  yield* ensure(workspace, { membersOfAgents: [agent.agent_id] })
  return workspace.membershipsOf(agent.agent_id).toSorted(compareLeaving)
}

/**
 * Deletes an agent and all that it owns: keys that are not blocked, checks, history. Its checks leave their incidents;
 * those in which it was the last member resolve (docs/rules.md#deleting-an-agent). Costs as much as it has keys and troubled checks.
 */
export function* removeAgent(
  workspace: Workspace,
  agent: AgentRecord,
  now: Instant.Instant,
  options: IncidentOptions,
): Decision<void> {
  const { agent_id } = agent
  yield* ensure(workspace, { keysOfAgents: [agent_id], membersOfAgents: [agent_id] })
  for (const key of workspace.keys.group(agent_id)) {
    if (key.state === "blocked") continue
    move(AgentKeyTransitions, key.state, "agent_removed")
    workspace.keys.delete(key.key_hash)
  }
  const memberships = yield* membershipsInOrder(workspace, agent)
  yield* ensure(workspace, { incidents: memberships.map((member) => member.incident_id) })
  const incidents = new Incidents(workspace, now, options)
  for (const member of memberships) yield* incidents.leave(member, { by: "agent_gone" })
  move(AgentTransitions, agent.admission_state, "removed")
  workspace.removeAgent(agent)
}

/** One bounded piece of removing pending agents after their last heartbeat (docs/rules.md#retention). Returns how many. */
export const removeIdlePending =
  (input: {
    readonly silence: Duration.Duration
    readonly incidents: IncidentOptions
    readonly limit: number
  }): Command<number> =>
  (workspace, now) =>
    (function* () {
      yield { idlePendingAgents: { seenBefore: Instant.minus(now, input.silence), limit: input.limit } }
      const ids = workspace.found.idlePendingAgents
      yield { keysOfAgents: ids, membersOfAgents: ids }
      for (const id of ids) {
        const agent = workspace.agents.get(id)
        if (agent !== undefined) yield* removeAgent(workspace, agent, now, input.incidents)
      }
      return ids.length
    })()

/** The memberships of an agent's checks, in the order in which a deletion takes them out. Changes nothing. */
const failingChecks =
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
const withdrawChecks =
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

interface Withdrawal {
  readonly agentId: AgentId
  /** Whether the agent is about to be deleted, as far as can be seen before. */
  readonly isLeaving: (agent: AgentRecord) => boolean
  readonly incidents: IncidentOptions
  /** How many checks one transaction takes. */
  readonly piece: number
}

const failingCount = ({ checks_warning, checks_unknown, checks_critical }: AgentRecord): number =>
  checks_warning + checks_unknown + checks_critical

/**
 * Takes the failing checks of an agent out of their incidents in pieces before it is deleted, where more of them fail than
 * one transaction should take.
 */
export const withdrawFailing = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { agentId, isLeaving, incidents, piece }: Withdrawal,
) {
  const agent = yield* storage.agent(agentId)
  if (agent === undefined || !isLeaving(agent) || failingCount(agent) <= piece) return
  const refs = yield* storage.transact(failingChecks(agentId))
  for (let at = 0; at < refs.length; at += piece) {
    yield* storage.transact(withdrawChecks(agentId, refs.slice(at, at + piece), incidents))
  }
})
