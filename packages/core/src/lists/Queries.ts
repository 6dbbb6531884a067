import { Context, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { agentNotFound } from "../heart/admission/AdmissionErrors.ts"
import type { ExportParameters } from "@tocsin/contract/export/Export"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { listReaders } from "../kernel/engine/lists/listReaders.ts"
import { ALL_AGENTS, firstRows, type PageParameters, readPage } from "../kernel/engine/lists/readPage.ts"
import { countStates } from "../heart/overdue/shownState.ts"
import { findAgents, type FoundAgentParameters } from "../heart/liveness/findAgents.ts"
import { aliveSince, toAgent } from "../heart/liveness/agentStatus.ts"
import { keptCounts } from "../heart/liveness/keptCounts.ts"
import { Commits } from "../kernel/engine/commits/Commits.ts"
import { serviceHeartbeatEvery } from "../heart/liveness/outage.ts"
import { MOST_INTEGRATIONS } from "../features/integrations/integrationDecisions.ts"
import { ALL_INTEGRATIONS } from "../features/integrations/seeIntegrations.ts"
import { Hashing } from "../kernel/ports/Hashing.ts"
import { RuleSettings } from "../kernel/ports/RuleSettings.ts"
import { Storage, type StorageError } from "../kernel/ports/Storage.ts"
import { NumberMemory } from "../features/numbers/NumberMemory.ts"
import { lastNumbers } from "../features/numbers/lastNumbers.ts"
import { readingNumbers } from "../features/numbers/Numbers.ts"
import { placesOfWatch } from "../features/watches/listPlaces.ts"
import { hourRows } from "../features/numbers/hourRows.ts"
import { exporting } from "../features/export/exporting.ts"
import { historyRows } from "../features/export/historyRows.ts"
import { incidentRows, type ShowIncidents } from "../features/export/incidentRows.ts"
import { readingCheckMetrics } from "../features/checkMetrics/checkMetrics.ts"
import { toAnnouncement } from "../features/publicPages/AnnouncementRecord.ts"
import { withSubjectTitles } from "../heart/usecases/subjectTitles.ts"
import { toAuditEntry } from "../heart/model/AuditRecord.ts"
import { toBlacklistItem } from "../heart/model/blacklist.ts"
import { toIncident } from "../heart/usecases/shownIncidents.ts"
import { toOutboxItem } from "../heart/model/OutboxRecord.ts"
import { toSilence } from "../heart/model/SilenceRecord.ts"
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
    const scope = yield* Effect.scope
    /**
     * Runs once for all concurrent callers, and never after the layer has closed. No result is kept: the end of
     * a time from now on may be long to come once the clock is set back.
     */
    const shared = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.map(Effect.cachedWithTTL(effect, Duration.negativeInfinity), (cached) =>
        Effect.flatMap(Effect.forkIn(cached, scope), Fiber.join),
      )
    const statusContext = Effect.gen(function* () {
      return { rules, serviceHeartbeat: yield* serviceHeartbeat, now: yield* Instant.now }
    })

    const memory = yield* NumberMemory
    const beginExport = exporting(sha256)
    const { inOrder, planned, sorted } = listReaders(storage, sha256)
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
      /** Numbers that checks measured (docs/rules.md#numbers). */
      numbers: readingNumbers(storage, memory, shared, ({ agent_id, check_id }) =>
        agent_id === rules.watchAgent ? commits.transact(placesOfWatch(check_id)) : Effect.succeed([]),
      ),
      /** All checks as metrics state them, and the last values of their series (docs/rules.md#metrics-of-checks). */
      checkMetrics: readingCheckMetrics(storage, sha256, lastNumbers(memory)),
      /** Rows of a kind and a span for other systems, until the scope closes (docs/rules.md#export). */
      exportRows: (parameters: ExportParameters, show: ShowIncidents) => {
        switch (parameters.kind) {
          case "history":
            return beginExport(parameters, historyRows(storage))
          case "incidents":
            return beginExport(parameters, incidentRows(storage, show))
          case "numbers":
            return beginExport(parameters, hourRows(storage, memory))
        }
      },
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
      silences: planned("silences", toSilence),
      announcements: planned("announcements", toAnnouncement),
      /** Counts that are current at their `generated_at`; concurrent calls share one computation. */
      summary: yield* shared(summarise),
      /** The same with counts of what waits for people. */
      overview: yield* shared(overviewOf(storage, summarise)),
      metricCounts: storage.metricCounts,
    }
  }),
}) {
  static readonly layer = Layer.effect(Queries, Queries.make).pipe(Layer.provideMerge(NumberMemory.layer))
}
