import { Context, Duration, Effect, Exit, Layer, Struct } from "effect"
import { agentNotFound } from "../heart/admission/AdmissionErrors.ts"
import { type AgentId, isAgentId, isCheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { listReaders } from "../kernel/engine/lists/listReaders.ts"
import {
  ALL_AGENTS,
  firstRows,
  type Page,
  type PageParameters,
  readPage,
} from "../kernel/engine/lists/readPage.ts"
import { countStates } from "../heart/overdue/shownState.ts"
import { findAgents, type FoundAgentParameters } from "../heart/liveness/findAgents.ts"
import { aliveSince, toAgent } from "../heart/liveness/agentStatus.ts"
import { keptCounts } from "../heart/liveness/keptCounts.ts"
import { sharing } from "../kernel/engine/sharing.ts"
import { serviceHeartbeatEvery } from "../heart/liveness/outage.ts"
import { MOST_INTEGRATIONS } from "../features/integrations/integrationDecisions.ts"
import { ALL_INTEGRATIONS } from "../features/integrations/seeIntegrations.ts"
import type { Storage, StorageError } from "../kernel/ports/Storage.ts"
import { toAuditEntry } from "../heart/model/AuditRecord.ts"
import { toIncident } from "../heart/usecases/shownIncidents.ts"
import { toOutboxItem } from "../heart/model/OutboxRecord.ts"
import type { AgentBlacklistItem, SystemSummary } from "@tocsin/contract/v1/Resources"
import { toCheckState, toStoredEvent } from "../heart/model/CheckRecord.ts"
import type { BlockedKeyRecord } from "../heart/model/AgentRecord.ts"
import type { AuditEntry } from "@tocsin/contract/audit/Audit"
import { HEARTBEAT } from "../heart/model/MemberRecord.ts"
import { openerTitles } from "../heart/notifications/incidentTitles.ts"
import { operationPorts } from "../heart/usecases/operationPorts.ts"

/** The check or the agent that a change is about, by its first subject. */
const aboutOf = ({ id, subjects: [first] }: AuditEntry) => {
  if (first === undefined || (first.kind !== "check" && first.kind !== "agent")) return []
  const [agent, check = HEARTBEAT] = first.id.split("/")
  const isOfCheck = isCheckId(check)
  if (!isAgentId(agent) || (check !== HEARTBEAT && !isOfCheck)) return []
  return [{ id, opener_agent_id: agent, opener_check_id: isOfCheck ? check : HEARTBEAT }]
}

/** Changes with the titles that their first subjects have now (docs/rules.md#audit). */
const withSubjectTitles = (storage: Pick<Storage["Service"], "agent" | "rows">) => (page: Page<AuditEntry>) =>
  Effect.map(openerTitles(storage, page.items.flatMap(aboutOf)), (titles) => ({
    ...page,
    items: page.items.map((item) => {
      const title = titles.get(item.id)
      const [first, ...others] = item.subjects
      return title === undefined || first === undefined
        ? item
        : { ...item, subjects: [{ ...first, title }, ...others] }
    }),
  }))

const toBlacklistItem = (record: BlockedKeyRecord): AgentBlacklistItem => ({
  id: record.blacklist_id,
  ...Struct.pick(record, ["key_fingerprint", "agent_id", "hostname"]),
  created_at: record.blocked_at,
  last_seen_at: record.last_seen_at,
})

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
    const { commits, rules, sha256, storage } = yield* operationPorts
    const counts = yield* keptCounts(storage, commits)
    const summarise = Effect.flatMap(Instant.now, (now) =>
      Effect.map(counts(aliveSince(now, rules)), (found) => ({ ...found, generated_at: now })),
    )
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
