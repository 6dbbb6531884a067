import type { AgentId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { KeyIdentity } from "../../kernel/ports/Hashing.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { KeyedRows } from "../../lists/StoredTables.ts"
import { AgentKeyTransitions, type AgentRecord, AgentTransitions, newAgent } from "../model/AgentRecord.ts"
import { titled } from "../model/titles.ts"

type Integration = KeyedRows["integration"]

/** A new key, and the ID of an agent that it may need. */
export interface NewKey {
  readonly key: KeyIdentity
  readonly newRegistrationId: (now: Instant.Instant) => RegistrationId
}

/** The key of an integration, which needs no acceptance. */
export const acceptedKey = ({ key }: NewKey, agent_id: AgentId, now: Instant.Instant) => ({
  ...key,
  agent_id,
  state: move(AgentKeyTransitions, "absent", "integrated"),
  created_at: now,
  last_seen_at: now,
})

/** Creates the agent of an integration, as one that has just been seen. */
export const createIntegrated = (
  unit: UnitOfWork,
  { kind, name, title: given_title }: Pick<Integration, "kind" | "name" | "title">,
  opening: NewKey,
): AgentRecord => {
  const { now } = unit
  const key = acceptedKey(opening, name, now)
  const reported = {
    agent_id: name,
    registration_id: opening.newRegistrationId(now),
    hostname: name,
    features: { push: true, metrics: false },
    observed_at: now,
    ...titled({ integration: kind }, { given_title }),
  }
  const agent = newAgent(reported, key, move(AgentTransitions, "absent", "integrated"), now)
  unit.keys.put(key)
  unit.putAgent(agent)
  return agent
}

/** Writes an integration and its agent. Needs to know that there are none of its name. */
export const openIntegration = (
  unit: UnitOfWork,
  given: Pick<Integration, "kind" | "name" | "options" | "title">,
  opening: NewKey,
  created_by: string,
): { readonly integration: Integration; readonly agent: AgentRecord } => {
  const integration: Integration = {
    ...given,
    key_hash: opening.key.key_hash,
    former_key_hash: undefined,
    former_valid_until: undefined,
    created_at: unit.now,
    created_by,
    last_request_at: undefined,
    last_refused_at: undefined,
    last_refusal: undefined,
    sources: [],
  }
  unit.of("integration").put(integration)
  return { integration, agent: createIntegrated(unit, integration, opening) }
}
