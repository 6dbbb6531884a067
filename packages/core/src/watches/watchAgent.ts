import type { AgentId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import { type NewKey, openIntegration } from "../integrations/integrationDecisions.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { SYSTEM } from "../model/IncidentRecord.ts"

/** The agent that has the results of watches. */
export interface WatchAgent {
  readonly name: AgentId
  /** A key that nobody knows: an agent has one. */
  readonly newKey: () => NewKey
}

/**
 * Whether an accepted agent, or an integration of another kind, has the name. Changes nothing. A pending agent
 * is a key that anybody can send: it stops no server.
 */
export const isWatchAgentTaken = commandOf(function* (unit, _now, name: AgentId): Decision<boolean> {
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  const integration = unit.of("integration").get(name)
  if (integration !== undefined) return integration.kind !== "watch"
  return unit.agents.get(name)?.admission_state === "accepted"
})

/**
 * The agent of the watches: that of an integration which the service creates with the first watch.
 * `closed` after its key was blocked, and until a new one opens it.
 */
export function* loadWatchAgent(
  unit: UnitOfWork,
  now: Instant.Instant,
  { name, newKey }: WatchAgent,
): Decision<AgentRecord | "closed" | "taken"> {
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  const integration = unit.of("integration").get(name)
  const agent = unit.agents.get(name)
  if (integration !== undefined) return integration.kind === "watch" ? (agent ?? "closed") : "taken"
  if (agent !== undefined) return "taken"
  return openIntegration(unit, now, { name, kind: "watch", options: {} }, newKey(), SYSTEM).agent
}
