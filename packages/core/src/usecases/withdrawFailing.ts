import type { AgentRecord } from "../admission/AgentRecord.ts"
import { failingChecks, withdrawChecks } from "../admission/withdrawChecks.ts"
import type { AgentId } from "../contract/Identifiers.ts"
import type { IncidentOptions } from "../incidents/Incidents.ts"
import type { Storage } from "../ports/Storage.ts"
import { Effect } from "effect"

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
