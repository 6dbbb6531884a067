import type { AgentId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { commandOf, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import type { Reading, Refusal } from "./Report.ts"
import { noted } from "./sources.ts"

/** An integration as it was read: it is so while its agent's row has this registration, key and time. */
export interface KnownIntegration {
  readonly integration: IntegrationRecord
  readonly agent: Pick<AgentRecord, "observed_at" | "registration_id">
}

/** An integration with its agent; `undefined` unless both are there. Needs their rows. */
export const knownOf = (unit: UnitOfWork, name: AgentId): KnownIntegration | undefined => {
  const agent = unit.agents.get(name)
  const integration = unit.of("integration").get(name)
  return agent && integration && { integration, agent }
}

/** Finds the integration of a key by its hash; the key may be no longer valid. Changes nothing. */
export const integrationOfKey = commandOf(function* (unit, key_hash: KeyHash) {
  yield* load(unit, { rows: { agent_key: [key_hash] } })
  const name = unit.keys.get(key_hash)?.agent_id
  if (name === undefined) return undefined
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  return knownOf(unit, name)
})

/** The outcome of a sender's request: by which integration it was read, and why some of it was refused. */
export interface TakenReports {
  readonly known: KnownIntegration
  readonly reading: Reading | Refusal
  readonly refusals: ReadonlyArray<Refusal>
}

/** Whether an integration has to note a request that was taken (docs/rules.md#integrations). */
export const mustNote = ({ known, reading, refusals }: TakenReports, now: Instant.Instant): boolean =>
  noted(known.integration, reading, refusals, now) !== undefined

/**
 * Notes on an integration what a request says of its sender, once its reports are stored. The rows of checks stay
 * out of it, so that storages decide reports on cached rows.
 */
export const noteRequest = commandOf(function* (unit, { known, reading, refusals }: TakenReports) {
  const { name } = known.integration
  // A command that asks for its agent first shares a transaction.
  yield* load(unit, { agents: [name] })
  yield* load(unit, { rows: { integration: [name] } })
  const present = knownOf(unit, name)
  if (present?.agent.registration_id !== known.agent.registration_id) return known
  const integration = noted(present.integration, reading, refusals, unit.now)
  if (integration === undefined) return present
  unit.of("integration").put(integration)
  return { ...present, integration }
})
