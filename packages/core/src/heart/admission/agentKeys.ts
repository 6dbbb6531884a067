import type { AgentId, CheckId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, loadRow, missingRows } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import {
  type AgentKeyRecord,
  AgentKeyTransitions,
  type AgentRecord,
  type AgentsKeyRecord,
  AgentTransitions,
  type BlockedKeyRecord,
} from "../model/AgentRecord.ts"

/** The standing of a key under an agent ID (docs/rules.md#agent-keys). */
export type Standing =
  | { readonly standing: "accepted"; readonly agent: AgentRecord }
  | { readonly standing: "pending"; readonly agent: AgentRecord; readonly key: AgentsKeyRecord }
  | { readonly standing: "blocked"; readonly key: BlockedKeyRecord }
  | { readonly standing: "superseded" }
  | { readonly standing: "key_of_another_agent" }
  | { readonly standing: "unknown"; readonly agent: AgentRecord | undefined }

/** Classifies a key. An accepted key, the usual case, needs only the agent's row. */
export function* recognise(
  unit: UnitOfWork,
  {
    agent_id,
    check_ids,
    key_hash,
  }: {
    readonly agent_id: AgentId
    readonly key_hash: KeyHash
    /** Checks to load along with the agent. */
    readonly check_ids?: ReadonlyArray<CheckId>
  },
): Decision<Standing> {
  if (check_ids !== undefined) {
    const missing = missingRows(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
    if (missing !== undefined) yield missing
  } else if (!unit.agents.isLoaded(agent_id)) yield { agents: [agent_id] }
  const agent = unit.agents.get(agent_id)
  if (agent?.accepted_key_hash === key_hash) return { standing: "accepted", agent }
  return standingOf(yield* loadRow(unit, "agent_key", key_hash), agent_id, agent)
}

const standingOf = (
  key: AgentKeyRecord | undefined,
  agentId: AgentId,
  agent: AgentRecord | undefined,
): Standing => {
  if (key === undefined) return { standing: "unknown", agent }
  if (key.state === "blocked") return { standing: "blocked", key }
  if (key.agent_id !== agentId) return { standing: "key_of_another_agent" }
  if (key.state === "superseded") return { standing: "superseded" }
  if (agent === undefined) throw new Error("a key that is not blocked outlived its agent")
  return key.state === "pending" ? { standing: "pending", agent, key } : { standing: "accepted", agent }
}

/** Looks up the state of a key, whatever its agent. Changes nothing. */
export const keyState = commandOf(function* (unit, key: KeyHash) {
  return (yield* loadRow(unit, "agent_key", key))?.state ?? "unknown"
})

export function* pendingKeyOf(unit: UnitOfWork, agent: AgentRecord) {
  if (agent.pending_key_hash === undefined) return undefined
  const key = yield* loadRow(unit, "agent_key", agent.pending_key_hash)
  if (key?.state !== "pending")
    throw new Error(`agent ${agent.agent_id} names a pending key that is not pending`)
  return { ...key, state: key.state }
}

/**
 * Accepts a key and supersedes the previous accepted key (docs/rules.md#agent-keys). Another
 * pending key of the agent stays pending, as a replacement.
 */
export function* acceptKey(
  unit: UnitOfWork,
  agent: AgentRecord,
  key: AgentsKeyRecord & { readonly state: "pending" },
  trigger: "accepted" | "enrolled" | "preseeded",
): Decision<void> {
  yield* supersede(unit, agent)
  unit.keys.put({ ...key, state: move(AgentKeyTransitions, key.state, trigger) })
  const otherPending = agent.pending_key_hash === key.key_hash ? undefined : agent.pending_key_hash
  unit.putAgent({
    ...agent,
    // The time in which it must be seen begins with its acceptance.
    ...(agent.admission_state === "pending" && { reachable_from: unit.now }),
    admission_state: move(AgentTransitions, agent.admission_state, "key_accepted"),
    accepted_key_hash: key.key_hash,
    pending_key_hash: otherPending,
    key_fingerprint: otherPending === undefined ? key.key_fingerprint : agent.key_fingerprint,
  })
}

function* supersede(unit: UnitOfWork, agent: AgentRecord): Decision<void> {
  if (agent.accepted_key_hash === undefined) return
  const old = yield* loadRow(unit, "agent_key", agent.accepted_key_hash)
  if (old?.state !== "accepted")
    throw new Error(`agent ${agent.agent_id} names an accepted key that is not accepted`)
  unit.keys.put({ ...old, state: move(AgentKeyTransitions, old.state, "superseded") })
}
