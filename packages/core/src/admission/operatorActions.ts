import type { AgentId, BlacklistId, KeyHash } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import { type Command, commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { closeIntegration, forgetIntegration } from "./integrationOf.ts"
import { acceptKey, pendingKeyOf } from "./agentKeys.ts"
import { AgentKeyTransitions, type AgentRecord } from "../model/AgentRecord.ts"
import { skipLockedAgents, type WorkOnMany } from "../engine/commits/lockedAgents.ts"
import { removeAgent } from "./removeAgent.ts"

/** The result of an operator's action. */
export type ActionOutcome =
  | { readonly outcome: "done"; readonly count: number }
  | { readonly outcome: "no_such_agent" }

/** The options of blocking and removing. */
export interface OperatorOptions extends IncidentOptions {
  readonly blacklistIdOf: (keyHash: KeyHash) => BlacklistId
}

/** Applies an action to an agent; returns whether it changed anything. */
type Act = (unit: UnitOfWork, agent: AgentRecord, now: Instant.Instant) => Decision<boolean>

/** An action as the audit states it. */
interface Signed {
  readonly action: "agent.accepted" | "agent.blocked" | "agent.deleted"
  readonly by: Signature
}

const onOne = commandOf(function* (
  unit,
  now,
  agentId: AgentId,
  { action, by }: Signed,
  act: Act,
): Decision<ActionOutcome> {
  yield* load(unit, { agents: [agentId] })
  const agent = unit.agents.get(agentId)
  if (agent === undefined) return { outcome: "no_such_agent" }
  if (!(yield* act(unit, agent, now))) return { outcome: "done", count: 0 }
  recordAudit(unit, now, by, action, [agentId], {})
  return { outcome: "done", count: 1 }
})

interface Bulk extends Signed {
  /** Whether the action concerns an agent. */
  readonly isMeant: (agent: AgentRecord) => boolean
}

/**
 * One bounded piece of a bulk action. Agents deleted meanwhile, or ignored by `act`, do not count.
 * Skips agents that another transaction locks.
 */
const onEach = commandOf(function* (
  unit,
  now,
  agentIds: ReadonlyArray<AgentId>,
  { action, by, isMeant }: Bulk,
  act: Act,
): Decision<WorkOnMany> {
  const changed: Array<AgentId> = []
  const { agents, held } = yield* skipLockedAgents(unit, agentIds)
  yield* load(unit, { rows: { agent_key: agents.flatMap((agent) => agent.pending_key_hash ?? []) } })
  for (const agent of agents) {
    if (isMeant(agent) && (yield* act(unit, agent, now))) changed.push(agent.agent_id)
  }
  recordAudit(unit, now, by, action, changed, {})
  return { count: changed.length, held }
})

function* acceptPending(unit: UnitOfWork, agent: AgentRecord, now: Instant.Instant): Decision<boolean> {
  const key = yield* pendingKeyOf(unit, agent)
  if (key === undefined) return false
  yield* acceptKey(unit, agent, key, { now, trigger: "accepted" })
  return true
}

function* blockKey(
  unit: UnitOfWork,
  agent: AgentRecord,
  keyHash: KeyHash,
  now: Instant.Instant,
  options: OperatorOptions,
): Decision<void> {
  yield* load(unit, { rows: { agent_key: [keyHash] } })
  const key = unit.keys.get(keyHash)
  if (key?.state !== "pending" && key?.state !== "accepted") {
    throw new Error(`agent ${agent.agent_id} names a key that it cannot use`)
  }
  const blacklistId = options.blacklistIdOf(keyHash)
  unit.keys.put({
    ...key,
    state: move(AgentKeyTransitions, key.state, "blocked"),
    // Contacts of an accepted key are recorded only in its agent's row.
    last_seen_at:
      key.state === "accepted" ? Instant.max(key.last_seen_at, agent.last_seen_at) : key.last_seen_at,
    blacklist_id: blacklistId,
    blocked_at: now,
    hostname: agent.hostname,
  })
  unit.blacklist.put({ id: blacklistId, key_hash: keyHash })
}

/**
 * Blocks the pending key, or else the accepted one. Deletes an agent that has no usable key left
 * (docs/rules.md#accept-block-remove).
 */
function* blockOne(
  unit: UnitOfWork,
  agent: AgentRecord,
  now: Instant.Instant,
  options: OperatorOptions,
): Decision<boolean> {
  const keyHash = agent.pending_key_hash ?? agent.accepted_key_hash
  if (keyHash === undefined) throw new Error(`agent ${agent.agent_id} has no usable key`)
  yield* blockKey(unit, agent, keyHash, now, options)
  if (keyHash === agent.accepted_key_hash || agent.accepted_key_hash === undefined) {
    yield* closeIntegration(unit, agent.agent_id)
    yield* removeAgent(unit, agent, now, options)
    return true
  }
  yield* load(unit, { rows: { agent_key: [agent.accepted_key_hash] } })
  const accepted = unit.keys.get(agent.accepted_key_hash)
  unit.putAgent({
    ...agent,
    pending_key_hash: undefined,
    key_fingerprint: accepted?.key_fingerprint ?? agent.key_fingerprint,
  })
  return true
}

function* removeOne(
  unit: UnitOfWork,
  agent: AgentRecord,
  now: Instant.Instant,
  options: OperatorOptions,
): Decision<boolean> {
  yield* forgetIntegration(unit, agent.agent_id)
  yield* removeAgent(unit, agent, now, options)
  return true
}

/** Accepts an agent's pending key; count 0 if none is pending. */
export const accept = (agentId: AgentId, by: Signature): Command<ActionOutcome> =>
  onOne(agentId, { action: "agent.accepted", by }, acceptPending)

/** Blocks one key of an agent. Not idempotent (docs/rules.md#accept-block-remove). */
export const block = (agentId: AgentId, options: OperatorOptions, by: Signature): Command<ActionOutcome> =>
  onOne(agentId, { action: "agent.blocked", by }, (unit, agent, now) => blockOne(unit, agent, now, options))

/** Deletes an agent with its keys, checks and history. */
export const remove = (agentId: AgentId, options: OperatorOptions, by: Signature): Command<ActionOutcome> =>
  onOne(agentId, { action: "agent.deleted", by }, (unit, agent, now) => removeOne(unit, agent, now, options))

/** Accepts the pending keys of these agents; replacement keys only with `includeRotation`. */
export const acceptEach = (
  agentIds: ReadonlyArray<AgentId>,
  { by, includeRotation }: { readonly by: Signature; readonly includeRotation: boolean },
): Command<WorkOnMany> => {
  const isMeant = (agent: AgentRecord) => includeRotation || isPending(agent)
  return onEach(agentIds, { action: "agent.accepted", by, isMeant }, acceptPending)
}

/** Blocks the pending keys of these agents, replacement keys included. */
export const blockEach = (
  agentIds: ReadonlyArray<AgentId>,
  options: OperatorOptions,
  by: Signature,
): Command<WorkOnMany> =>
  onEach(agentIds, { action: "agent.blocked", by, isMeant: hasPendingKey }, (unit, agent, now) =>
    blockOne(unit, agent, now, options),
  )

/** Removes the pending agents among these; accepted agents keep their replacement keys. */
export const removeEach = (
  agentIds: ReadonlyArray<AgentId>,
  options: OperatorOptions,
  by: Signature,
): Command<WorkOnMany> =>
  onEach(agentIds, { action: "agent.deleted", by, isMeant: isPending }, (unit, agent, now) =>
    removeOne(unit, agent, now, options),
  )

const isPending = (agent: AgentRecord): boolean => agent.admission_state === "pending"

const hasPendingKey = (agent: AgentRecord): boolean => agent.pending_key_hash !== undefined

/** Deletes blacklist rows, so that their keys are unknown again. Returns how many rows existed. */
export const unblock = commandOf(function* (
  unit,
  now,
  ids: ReadonlyArray<BlacklistId>,
  by: Signature,
): Decision<number> {
  yield* load(unit, { blacklist: ids })
  const unblocked = ids.filter((id) => {
    const row = unit.blacklist.get(id)
    if (row === undefined) return false
    move(AgentKeyTransitions, "blocked", "unblocked")
    unit.keys.delete(row.key_hash)
    unit.blacklist.delete(id)
    return true
  })
  recordAudit(unit, now, by, "key.unblocked", unblocked, {})
  return unblocked.length
})
