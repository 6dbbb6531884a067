import type { AgentId, BlacklistId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, load, loadRow, loneCommandOf } from "../../kernel/unitOfWork/Decision.ts"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { AgentKeyTransitions, type AgentRecord } from "../model/AgentRecord.ts"
import { acceptKey, pendingKeyOf } from "./agentKeys.ts"
import { skipLockedAgents } from "../../kernel/engine/commits/lockedAgents.ts"
import { forgetMails, removeAgent } from "./removeAgent.ts"

/** The options of blocking and removing. */
export interface OperatorOptions extends IncidentOptions {
  readonly blacklistIdOf: (keyHash: KeyHash) => BlacklistId
}

function* acceptPending(unit: UnitOfWork, agent: AgentRecord): Decision<boolean> {
  const key = yield* pendingKeyOf(unit, agent)
  if (key === undefined) return false
  yield* acceptKey(unit, agent, key, "accepted")
  return true
}

function* blockKey(unit: UnitOfWork, agent: AgentRecord, keyHash: KeyHash, options: OperatorOptions) {
  const key = yield* loadRow(unit, "agent_key", keyHash)
  if (key?.state !== "pending" && key?.state !== "accepted") {
    throw new Error(`agent ${agent.agent_id} names a key that it cannot use`)
  }
  unit.keys.put({
    ...key,
    state: move(AgentKeyTransitions, key.state, "blocked"),
    // Contacts of an accepted key are recorded only in its agent's row.
    last_seen_at:
      key.state === "accepted" ? Instant.max(key.last_seen_at, agent.last_seen_at) : key.last_seen_at,
    blacklist_id: options.blacklistIdOf(keyHash),
    blocked_at: unit.now,
    hostname: agent.hostname,
  })
}

/** Closes the integration of an agent whose key is blocked, if it has one: no key of it is valid. */
function* closeIntegration(unit: UnitOfWork, name: AgentId): Decision<void> {
  const integration = yield* loadRow(unit, "integration", name)
  if (integration === undefined) return
  const noKeys = { key_hash: undefined, former_key_hash: undefined, former_valid_until: undefined }
  unit.of("integration").put({ ...integration, ...noKeys })
}

/**
 * Blocks the pending key, or else the accepted one. Deletes an agent that has no usable key left
 * (docs/rules.md#accept-block-remove).
 */
function* blockOne(
  unit: UnitOfWork,
  agent: AgentRecord,
  options: OperatorOptions,
  by: Signature,
): Decision<boolean> {
  const keyHash = agent.pending_key_hash ?? agent.accepted_key_hash
  if (keyHash === undefined) throw new Error(`agent ${agent.agent_id} has no usable key`)
  yield* blockKey(unit, agent, keyHash, options)
  if (keyHash === agent.accepted_key_hash || agent.accepted_key_hash === undefined) {
    yield* closeIntegration(unit, agent.agent_id)
    yield* removeAgent(unit, agent, options, by.actor)
    return true
  }
  const accepted = yield* loadRow(unit, "agent_key", agent.accepted_key_hash)
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
  options: OperatorOptions,
  by: Signature,
): Decision<boolean> {
  const integration = yield* loadRow(unit, "integration", agent.agent_id)
  if (integration !== undefined) {
    unit.of("integration").delete(agent.agent_id)
    yield* forgetMails(unit, integration)
  }
  yield* removeAgent(unit, agent, options, by.actor)
  return true
}

const isPending = (agent: AgentRecord): boolean => agent.admission_state === "pending"

const hasPendingKey = (agent: AgentRecord): boolean => agent.pending_key_hash !== undefined

interface ManyOptions extends OperatorOptions {
  /** Whether replacement keys are accepted too. */
  readonly includeRotation?: boolean
}

/** The actions on agents: their names in the audit, and the agents among many that each concerns. */
const ACTIONS = {
  /** Accepts a pending key. */
  accept: {
    action: "agent.accepted",
    act: acceptPending,
    isMeant: (agent: AgentRecord, { includeRotation = false }: ManyOptions) =>
      includeRotation || isPending(agent),
  },
  /** Blocks one key of an agent; of many, pending ones. Not idempotent (docs/rules.md#accept-block-remove). */
  block: { action: "agent.blocked", act: blockOne, isMeant: hasPendingKey },
  /** Deletes an agent with its keys, checks and history; of many, pending ones. */
  remove: { action: "agent.deleted", act: removeOne, isMeant: isPending },
} as const
type ActionName = keyof typeof ACTIONS

/** Carries out an action on one agent. The count is 0 if it changes nothing. */
export const actOnOne = commandOf(function* (
  unit,
  name: ActionName,
  agentId: AgentId,
  options: OperatorOptions,
  by: Signature,
) {
  const { act, action } = ACTIONS[name]
  yield* load(unit, { agents: [agentId] })
  const agent = unit.agents.get(agentId)
  if (agent === undefined) return "no_such_agent"
  if (!(yield* act(unit, agent, options, by))) return 0
  recordAudit(unit, by, action, [agentId], {})
  return 1
})

/**
 * One bounded piece of an action on many agents. Agents deleted meanwhile, or left as they are, do not count.
 * Skips agents that another transaction locks.
 */
export const actOnEach = commandOf(function* (
  unit,
  name: ActionName,
  agentIds: ReadonlyArray<AgentId>,
  options: ManyOptions,
  by: Signature,
) {
  const { act, action, isMeant } = ACTIONS[name]
  const changed: Array<AgentId> = []
  const { agents, held } = yield* skipLockedAgents(unit, agentIds)
  yield* load(unit, { rows: { agent_key: agents.flatMap((agent) => agent.pending_key_hash ?? []) } })
  for (const agent of agents) {
    if (isMeant(agent, options) && (yield* act(unit, agent, options, by))) changed.push(agent.agent_id)
  }
  recordAudit(unit, by, action, changed, {})
  return { count: changed.length, held }
})

/** Deletes blacklist rows, so that their keys are unknown again. Returns how many rows existed. */
export const unblock = loneCommandOf(function* (unit, ids: ReadonlyArray<BlacklistId>, by: Signature) {
  const keys = yield* find("blockedKeys", ids)
  for (const { key_hash } of keys) {
    move(AgentKeyTransitions, "blocked", "unblocked")
    unit.keys.delete(key_hash)
  }
  const found = new Set(keys.flatMap((key) => (key.state === "blocked" ? key.blacklist_id : [])))
  const unblocked = ids.filter((id) => found.has(id))
  recordAudit(unit, by, "key.unblocked", unblocked, {})
  return keys.length
})
