import { Duration, Effect } from "effect"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { commandOf, load } from "../../kernel/unitOfWork/Decision.ts"
import { resolveHeartbeatIncident } from "../../heart/deadAgents/heartbeatIncident.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { reachableFrom } from "../../heart/liveness/agentStatus.ts"
import { isKnownKind } from "./kinds.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"

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
  const warned = new Set<AgentId>()
  let isIdle = true
  return {
    name: "seeing the agents of integrations",
    // Each round sees those that there are, so that none is left out.
    pause: Effect.suspend(() => (isIdle ? idlePause(every) : Effect.sleep(every))),
    piece: Effect.as(
      eachPage(storage, ALL_INTEGRATIONS, (rows) => {
        const names = rows.map(({ name }) => name)
        isIdle = names.length === 0
        const unknown = rows.filter(({ kind, name }) => !isKnownKind(kind) && !warned.has(name))
        return Effect.forEach(unknown, ({ kind, name }) => {
          warned.add(name)
          return Effect.logWarning(
            `the integration ${name} is of the kind ${kind}, which a later version of Tocsin has stored, and is left as it is: upgrade this server`,
          )
        }).pipe(Effect.andThen(commits.transact(seeIntegrations(names, incidents))))
      }),
      false,
    ),
  }
}
