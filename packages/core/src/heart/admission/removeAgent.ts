import { Array as Arr, type Duration, Effect } from "effect"
import { auditedCheck } from "../model/AuditRecord.ts"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import { type Chore, type ChoreServices, isWhole } from "../../kernel/engine/commits/Chore.ts"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { expiryPause, type RetentionOptions } from "../../kernel/engine/commits/Retention.ts"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, load, loneCommandOf } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { HEARTBEAT, type MemberRecord, type MemberRef } from "../model/MemberRecord.ts"
import { compareMembers } from "../../kernel/unitOfWork/Standings.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { AgentKeyTransitions, type AgentRecord, AgentTransitions, uncount } from "../model/AgentRecord.ts"
import type { ShownKind } from "@tocsin/contract/integrations/Integrations"

/** Deletes the kept mails of an integration that is deleted. Other kinds have none. */
export function* forgetMails(
  unit: UnitOfWork,
  { kind, name }: { readonly kind: ShownKind; readonly name: AgentId },
): Decision<void> {
  if (kind !== "mail") return
  yield* load(unit, { groups: { kept_mail: [name] } })
  const kept = unit.of("kept_mail")
  for (const { id } of kept.group(name)) kept.delete(id)
}

/**
 * The most severe member leaves last: what a resolved incident shows must not depend on the order
 * in which a storage loads memberships.
 */
const compareLeaving = (a: MemberRecord, b: MemberRecord): number =>
  a.incident_id === b.incident_id ? compareMembers(b, a) : a.incident_id < b.incident_id ? -1 : 1

/** The present memberships of an agent, in the order in which they leave. */
function* membershipsInOrder(unit: UnitOfWork, agent: AgentRecord): Decision<ReadonlyArray<MemberRecord>> {
  yield* load(unit, { groups: { incident_member: [agent.agent_id] } })
  return unit.membershipsOf(agent.agent_id).toSorted(compareLeaving)
}

/**
 * Deletes an agent with its checks, history and keys that are not blocked. Its checks leave their
 * incidents, which resolve if empty (docs/rules.md#deleting-an-agent). The cost grows with its keys
 * and failing checks.
 */
export function* removeAgent(
  unit: UnitOfWork,
  agent: AgentRecord,
  options: IncidentOptions,
  by: string,
): Decision<void> {
  const { agent_id } = agent
  yield* load(unit, { groups: { agent_key: [agent_id], incident_member: [agent_id] } })
  for (const key of unit.keys.group(agent_id)) {
    if (key.state === "blocked") continue
    move(AgentKeyTransitions, key.state, "agent_removed")
    unit.keys.delete(key.key_hash)
  }
  const memberships = yield* membershipsInOrder(unit, agent)
  yield* load(unit, { incidents: memberships.map((member) => member.incident_id) })
  const incidents = new Incidents(unit, options)
  const resolution = { reason: "deleted", by, of: "agent" } as const
  for (const member of memberships) yield* incidents.leave(member, { by: "agent_gone", resolution })
  move(AgentTransitions, agent.admission_state, "removed")
  unit.removeAgent(agent)
}

/** One bounded piece of removing silent pending agents (docs/rules.md#retention). Returns how many. */
export const removeIdlePending = loneCommandOf(function* (
  unit,
  input: {
    readonly idleFor: Duration.Duration
    readonly incidents: IncidentOptions
    readonly limit: number
  },
) {
  const asked = { seenBefore: Instant.minus(unit.now, input.idleFor), limit: input.limit }
  const ids = yield* find("idlePendingAgents", asked)
  yield { groups: { agent_key: ids, incident_member: ids } }
  for (const id of ids) {
    const agent = unit.agents.get(id)
    if (agent !== undefined) yield* removeAgent(unit, agent, input.incidents, SYSTEM)
  }
  return ids.length
})

/** The memberships of an agent's checks, in the order of their removal. Changes nothing. */
const failingChecks = commandOf(function* (unit, agentId: AgentId) {
  yield* load(unit, { agents: [agentId] })
  const agent = unit.agents.get(agentId)
  if (agent === undefined) return []
  const memberships = yield* membershipsInOrder(unit, agent)
  return memberships.filter(({ check_id }) => check_id !== HEARTBEAT)
})

/**
 * One bounded piece of a deletion: removes failing checks and takes them out of their incidents.
 * Their history stays until the agent is deleted. Ignores checks that have recovered or moved
 * meanwhile.
 */
const withdrawChecks = commandOf(function* (
  unit,
  agentId: AgentId,
  refs: ReadonlyArray<MemberRef>,
  { by, incidents: options }: { readonly incidents: IncidentOptions; readonly by: Signature },
) {
  const check_ids = refs.map(({ check_id }) => check_id)
  yield* load(unit, { agents: [agentId], checks: { agent_id: agentId, check_ids } })
  let agent = unit.agents.get(agentId)
  if (agent === undefined) return
  const { registration_id } = agent
  const checks = refs.flatMap((ref) => {
    const check = unit.checks.get({ ...ref, registration_id })
    return check?.incident_id === ref.incident_id ? { ref, check } : []
  })
  const members = checks.map(({ ref }) => ref)
  yield* load(unit, {
    incidents: members.map((ref) => ref.incident_id),
    rows: { incident_member: members },
  })
  const incidents = new Incidents(unit, options)
  const resolution = { reason: "deleted", by: by.actor, of: "agent" } as const
  for (const { ref, check } of checks) {
    yield* incidents.leave(ref, { by: "agent_gone", resolution })
    unit.checks.delete(check)
    agent = uncount(agent, check.status)
  }
  unit.putAgent(agent)
  const deleted = checks.map(({ check }) => auditedCheck(check))
  recordAudit(unit, by, "check.deleted", deleted, {})
})

const failingCount = ({ checks_warning, checks_unknown, checks_critical }: AgentRecord): number =>
  checks_warning + checks_unknown + checks_critical

/** Before an agent is deleted, removes its failing checks in pieces if one transaction would take too long. */
export const withdrawFailing = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  {
    agentId,
    isLeaving,
    piece,
    ...options
  }: {
    readonly agentId: AgentId
    readonly isLeaving: (agent: AgentRecord) => boolean
    readonly incidents: IncidentOptions
    readonly by: Signature
    /** Checks per transaction. */
    readonly piece: number
  },
) {
  const agent = yield* storage.agent(agentId)
  if (agent === undefined || !isLeaving(agent) || failingCount(agent) <= piece) return
  const refs = yield* commits.transact(failingChecks(agentId))
  for (const some of Arr.chunksOf(refs, piece))
    yield* commits.transact(withdrawChecks(agentId, some, options))
})

/** Removes pending agents that went silent, if they have a retention. */
export const idlePendingChores = (
  { commits, pieces: { rows: limit } }: ChoreServices,
  { pending: idleFor }: RetentionOptions,
  incidents: IncidentOptions,
): ReadonlyArray<Chore> => {
  if (idleFor === undefined) return []
  const removing = commits.transact(removeIdlePending({ idleFor, incidents, limit }))
  return [
    {
      name: "removing pending agents that went silent",
      pause: expiryPause,
      piece: Effect.map(removing, isWhole(limit)),
    },
  ]
}
