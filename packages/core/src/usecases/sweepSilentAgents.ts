import { Effect } from "effect"
import type { AgentId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import type { IncidentOptions } from "../incidents/Incidents.ts"
import { deadSince, sweepDeadAgents } from "../liveness/sweepDeadAgents.ts"
import type { PolicyOptions } from "../ports/Policy.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { finishHeld } from "./finishHeld.ts"

interface SweepOptions {
  readonly policy: PolicyOptions
  readonly incidents: IncidentOptions
  /** How many agents one transaction takes. */
  readonly limit: number
}

/**
 * Looks for agents that have turned dead, and opens the incidents of at most `limit` of them. Passes over those that somebody
 * else holds. Returns how many it opened.
 */
export const sweepSilentAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { policy, incidents, limit }: SweepOptions,
): Effect.fn.Return<number, StorageError> {
  const agents = yield* storage.silentAgents(deadSince(yield* Instant.now, policy), limit)
  if (agents.length === 0) return 0
  const piece = (some: ReadonlyArray<AgentId>) => sweepDeadAgents({ policy, incidents, agents: some })
  const { count, held } = yield* storage.transact(piece(agents))
  return count + (yield* finishHeld(storage, { name: "dead_agents", piece, limit }, held))
})
