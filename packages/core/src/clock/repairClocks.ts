import { Array as Arr, Effect } from "effect"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Commits } from "../engine/commits/Commits.ts"
import type { ListQuery } from "../model/ListDefinitions.ts"
import { ALL_AGENTS, eachPage, OPEN_INCIDENTS } from "../engine/lists/readPage.ts"
import type { OutboxState } from "@tocsin/contract/Status"
import { UNENDED } from "../model/OutboxRecord.ts"
import { lastOutage } from "../liveness/outage.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { repairAgent } from "./repairAgent.ts"
import { repairIncidents } from "./repairIncidents.ts"

const LATEST_RESOLVED: ListQuery<"incidents"> = {
  list: "incidents",
  filter: { state: "resolved" },
  sort: "resolved_at",
  direction: "desc",
}
const latestOf = (state: OutboxState): ListQuery<"outbox"> => ({
  list: "outbox",
  filter: { state },
  sort: "updated_at",
  direction: "desc",
})

/** Agents at a time: storages that commit in groups fill them. */
const AGENTS_AT_A_TIME = 16
/** Incidents per transaction: each is locked with its outbox. */
const INCIDENTS = 100

/**
 * Sets right what a clock that has been set back dated ahead, so that nothing waits until the former,
 * wrong time (docs/decisions/0032). Safe to repeat, and with several replicas.
 */
export const repairClocks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  rules: RuleOptions,
): Effect.fn.Return<void, StorageError> {
  const now = yield* Instant.now
  const serviceHeartbeat = yield* storage.serviceHeartbeat
  const settings = {
    outageEnd: lastOutage(serviceHeartbeat, now, rules)?.ended_at,
    staleAfter: rules.staleAfter,
  }
  yield* eachPage(storage, ALL_AGENTS, (agents) =>
    Effect.forEach(
      agents,
      ({ agent_id }) => commits.transact(repairAgent({ agentId: agent_id, ...settings })),
      { concurrency: AGENTS_AT_A_TIME, discard: true },
    ),
  )
  const setIncidents = (ids: ReadonlyArray<IncidentId>) =>
    Effect.forEach(Arr.chunksOf(ids, INCIDENTS), (piece) => commits.transact(repairIncidents(piece)), {
      discard: true,
    })
  yield* eachPage(storage, OPEN_INCIDENTS, (open) => setIncidents(open.map(({ id }) => id)))
  // Of all others, those that were written ahead: the latest.
  yield* eachPage(storage, LATEST_RESOLVED, (resolved) => {
    const ahead = resolved.filter(({ resolved_at }) => resolved_at !== undefined && resolved_at > now)
    return Effect.as(setIncidents(ahead.map(({ id }) => id)), ahead.length === resolved.length)
  })
  for (const state of UNENDED) {
    yield* eachPage(storage, latestOf(state), (items) => {
      const ahead = items.filter(({ updated_at }) => updated_at > now)
      return Effect.as(
        setIncidents(ahead.map(({ incident_id }) => incident_id)),
        ahead.length === items.length,
      )
    })
  }
})
