import type { AgentId } from "@tocsin/contract/Identifiers"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"

/** Whether a name belongs to an integration, open or closed: no agent may register it. */
export function* isIntegration(unit: UnitOfWork, name: AgentId): Decision<boolean> {
  yield* load(unit, { rows: { integration: [name] } })
  return unit.of("integration").get(name) !== undefined
}

/** Removes the integration of a deleted agent, if it has one. */
export function* forgetIntegration(unit: UnitOfWork, name: AgentId): Decision<void> {
  if (yield* isIntegration(unit, name)) unit.of("integration").delete(name)
}

/** Closes the integration of an agent whose key is blocked, if it has one: no key of it is valid. */
export function* closeIntegration(unit: UnitOfWork, name: AgentId): Decision<void> {
  yield* load(unit, { rows: { integration: [name] } })
  const integration = unit.of("integration").get(name)
  if (integration === undefined) return
  unit.of("integration").put({
    ...integration,
    key_hash: undefined,
    former_key_hash: undefined,
    former_valid_until: undefined,
  })
}
