import { Duration, Effect } from "effect"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Chore, ChoreServices } from "../engine/commits/Chore.ts"
import { eachPage } from "../engine/lists/readPage.ts"
import { commandOf } from "../unitOfWork/Decision.ts"
import { load } from "../unitOfWork/load.ts"
import { resolveHeartbeatIncident } from "../deadAgents/heartbeatIncident.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { reachableFrom } from "../liveness/agentStatus.ts"
import { idlePause } from "../ports/IdlePause.ts"

/** The agents of integrations are seen this many times in a stale threshold. */
const SEEN_PER_THRESHOLD = 2

const seenEvery = ({ staleAfter }: IncidentOptions): Duration.Duration =>
  Duration.divideUnsafe(staleAfter, SEEN_PER_THRESHOLD)

/**
 * Marks the agents of integrations as seen; they live as long as the service (docs/rules.md#integrations). Of several replicas, one writes.
 */
export const seeIntegrations = commandOf(function* (
  unit,
  names: ReadonlyArray<AgentId>,
  incidents: IncidentOptions,
) {
  const { now } = unit
  yield* load(unit, { agents: names, rows: { integration: names } })
  const before = Instant.minus(now, seenEvery(incidents))
  for (const name of names) {
    const agent = unit.agents.get(name)
    if (agent === undefined || unit.of("integration").get(name) === undefined) continue
    if (agent.last_seen_at > before && agent.last_seen_at <= now) continue
    const reachable_from = reachableFrom(agent, now, incidents.staleAfter)
    const seen = { ...agent, last_seen_at: now, reachable_from }
    unit.putAgent(yield* resolveHeartbeatIncident(unit, seen, incidents))
  }
})

export const ALL_INTEGRATIONS = { list: "integrations", filter: {}, sort: "name", direction: "asc" } as const

export const integrationsChore = ({ commits, storage }: ChoreServices, incidents: IncidentOptions): Chore => {
  const every = seenEvery(incidents)
  let isIdle = true
  return {
    name: "seeing the agents of integrations",
    // Each round sees those that there are, so that none is left out.
    pause: Effect.suspend(() => (isIdle ? idlePause(every) : Effect.sleep(every))),
    piece: Effect.as(
      eachPage(storage, ALL_INTEGRATIONS, (rows) => {
        const names = rows.map(({ name }) => name)
        isIdle = names.length === 0
        return commits.transact(seeIntegrations(names, incidents))
      }),
      false,
    ),
  }
}
