import { Context, Duration, Effect, Exit, Layer } from "effect"
import { agentNotFound } from "../heart/admission/AdmissionErrors.ts"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { listReaders } from "../kernel/engine/lists/listReaders.ts"
import { ALL_AGENTS, firstRows, type PageParameters, readPage } from "../kernel/engine/lists/readPage.ts"
import { countStates } from "../heart/overdue/shownState.ts"
import { findAgents, type FoundAgentParameters } from "../heart/liveness/findAgents.ts"
import { aliveSince, toAgent } from "../heart/liveness/agentStatus.ts"
import { keptCounts } from "../heart/liveness/keptCounts.ts"
import { sharing } from "../kernel/engine/sharing.ts"
import { Commits } from "../kernel/engine/commits/Commits.ts"
import { serviceHeartbeatEvery } from "../heart/liveness/outage.ts"
import { MOST_INTEGRATIONS } from "../features/integrations/integrationDecisions.ts"
import { ALL_INTEGRATIONS } from "../features/integrations/seeIntegrations.ts"
import { Hashing } from "../kernel/ports/Hashing.ts"
import { RuleSettings } from "../kernel/ports/RuleSettings.ts"
import { Storage, type StorageError } from "../kernel/ports/Storage.ts"
import { withSubjectTitles } from "../heart/usecases/subjectTitles.ts"
import { toAuditEntry } from "../heart/model/AuditRecord.ts"
import { toBlacklistItem } from "../heart/model/blacklist.ts"
import { toIncident } from "../heart/usecases/shownIncidents.ts"
import { toOutboxItem } from "../heart/model/OutboxRecord.ts"
import type { SystemSummary } from "@tocsin/contract/v1/Resources"
import { toCheckState, toStoredEvent } from "../heart/model/CheckRecord.ts"

// Reading the service heartbeat once a second is enough: its effects last minutes.
const HEARTBEAT_KEPT_FOR = Duration.seconds(1)

/** More are not counted: they would be read. */
const MOST_COUNTED = 500

const overviewOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  summarise: Effect.Effect<SystemSummary, StorageError>,
) {
  const summary = yield* summarise
  const { backlog, incidents, ...counted } = yield* storage.metricCounts
  const filter = { state: "open", acknowledged: true, at: summary.generated_at } as const
  const query = { list: "incidents", filter, sort: "status", direction: "desc" } as const
  const acknowledged = yield* firstRows(storage, query, MOST_COUNTED)
  const integrations = yield* firstRows(storage, ALL_INTEGRATIONS, MOST_INTEGRATIONS)
  const waiting = yield* storage.agentsWithPendingKey(undefined, MOST_COUNTED)
  const failed = backlog.filter(({ state }) => state === "failed").reduce((sum, { items }) => sum + items, 0)
  return {
    ...summary,
    incidents,
    states: countStates(summary, counted),
    // One whose key is blocked has no agent.
    integration_agents: integrations.filter(({ key_hash }) => key_hash !== undefined).length,
    acknowledged_incidents: acknowledged.length,
    waiting_keys: waiting.length,
    dead_letters: failed,
  }
})

/** Operators' reads (docs/rules.md#lists). */
export class Queries extends Context.Service<Queries>()("@tocsin/core/lists/Queries", {
  make: Effect.gen(function* () {
    const storage = yield* Storage
    const rules = yield* RuleSettings
    const commits = yield* Commits
    const counts = yield* keptCounts(storage, commits)
    const summarise = Effect.flatMap(Instant.now, (now) =>
      Effect.map(counts(aliveSince(now, rules)), (found) => ({ ...found, generated_at: now })),
    )
    const { sha256 } = yield* Hashing
    const serviceHeartbeat = yield* Effect.cachedWithTTL(storage.serviceHeartbeat, (exit) =>
      Exit.isSuccess(exit) ? Duration.min(HEARTBEAT_KEPT_FOR, serviceHeartbeatEvery(rules)) : 0,
    )
    const shared = yield* sharing
    const statusContext = Effect.gen(function* () {
      return { rules, serviceHeartbeat: yield* serviceHeartbeat, now: yield* Instant.now }
    })

    const { inOrder, sorted } = listReaders(storage, sha256)
    const readAudit = inOrder("audit", { sort: "recorded_at", direction: "desc" }, toAuditEntry)
    return {
      checks: inOrder("checks", { sort: "agent_id", direction: "asc" }, toCheckState),
      history: inOrder("history", { sort: "stored", direction: "desc" }, toStoredEvent),
      incidents: sorted("incidents", toIncident),
      outbox: sorted("outbox", toOutboxItem),
      blacklist: inOrder("blacklist", { sort: "stored", direction: "desc" }, toBlacklistItem),
      /** Changes that someone made, newest first (docs/rules.md#audit). */
      audit: ({
        with_titles,
        ...parameters
      }: Parameters<typeof readAudit>[0] & { readonly with_titles?: boolean }) =>
        Effect.flatMap(readAudit(parameters), with_titles ? withSubjectTitles(storage) : Effect.succeed),
      agents: Effect.fnUntraced(function* (parameters: PageParameters) {
        const found = yield* readPage(storage, sha256, ALL_AGENTS, parameters)
        const context = yield* statusContext
        return { ...found, items: found.items.map((row) => toAgent(row, context)) }
      }),
      /** Agents that are found by words, their status or a waiting key. */
      findAgents: (parameters: FoundAgentParameters) =>
        Effect.flatMap(statusContext, (context) => findAgents(storage, sha256, context, parameters)),
      agent: Effect.fnUntraced(function* (agentId: AgentId) {
        const record = yield* storage.agent(agentId)
        if (record === undefined) return yield* agentNotFound()
        return toAgent(record, yield* statusContext)
      }),
      /** Counts that are current at their `generated_at`; concurrent calls share one computation. */
      summary: yield* shared(summarise),
      /** The same with counts of what waits for people. */
      overview: yield* shared(overviewOf(storage, summarise)),
      metricCounts: storage.metricCounts,
    }
  }),
}) {
  static readonly layer = Layer.effect(Queries, Queries.make)
}
