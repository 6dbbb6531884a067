import { Context, Duration, Effect, Exit, Layer } from "effect"
import { type AgentNotFound, agentNotFound } from "../admission/AdmissionErrors.ts"
import type { AuditEntry } from "@tocsin/contract/Audit"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type {
  Agent,
  AgentBlacklistItem,
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
  SystemSummary,
} from "@tocsin/contract/Resources"
import type { Silence } from "@tocsin/contract/Silences"
import type { ListFilters, ListName, ListQuery, ListRows, ListSort } from "../model/ListDefinitions.ts"
import {
  ALL_AGENTS,
  firstRows,
  type Page,
  type PageParameters,
  pagesAt,
  readPage,
} from "../engine/lists/readPage.ts"
import { findAgents, type FoundAgentParameters } from "./findAgents.ts"
import { expectedChecks, type ExpectedCheckParameters, type ExpectedCheckState } from "./expectedChecks.ts"
import { aliveSince } from "../liveness/agentStatus.ts"
import { serviceHeartbeatEvery } from "../liveness/outage.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings, type RuleOptions } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import type { MetricCounts } from "../ports/StorageCounts.ts"
import { shared } from "./singleFlight.ts"
import { toSilence } from "./silencing.ts"
import * as resources from "./toResources.ts"

type PageOf<Item> = Effect.Effect<Page<Item>, ValidationError | StorageError>

// Reading the service heartbeat once a second is enough: its effects last minutes.
const HEARTBEAT_KEPT_FOR = Duration.seconds(1)

/** The parameters of a list: paging and filters. */
type Narrowed<L extends ListName> = PageParameters & ListFilters[L]

/** The same for lists with a choice of orders. */
export type Sorted<L extends ListName> = Narrowed<L> & {
  readonly sort: ListSort<L>
  readonly direction: "asc" | "desc"
}

const NEWEST_CHANGES = { list: "audit", sort: "recorded_at", direction: "desc" } as const

type SilenceParameters = PageParameters & Pick<ListFilters["silences"], "state">

const silencesPage = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  { state, ...parameters }: SilenceParameters,
) {
  const now = yield* Instant.now
  const query = { list: "silences", filter: { state }, sort: "created_at", direction: "desc" } as const
  const found = yield* readPage(pagesAt(storage, now), sha256, query, parameters)
  return { ...found, items: found.items.map((silence) => toSilence(silence, now)) }
})

/** More are not counted: they would be read. */
const MOST_COUNTED = 500

type Overview = SystemSummary & {
  readonly incidents: MetricCounts["incidents"]
  readonly acknowledged_incidents: number
  readonly waiting_keys: number
  readonly dead_letters: number
}

const overviewOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  rules: RuleOptions,
): Effect.fn.Return<Overview, StorageError> {
  const summary = yield* summarise(storage, rules)
  const { backlog, incidents } = yield* storage.metricCounts
  const filter = { state: "open", acknowledged: true, at: summary.generated_at } as const
  const query = { list: "incidents", filter, sort: "status", direction: "desc" } as const
  const acknowledged = yield* firstRows(storage, query, MOST_COUNTED)
  const waiting = yield* storage.agentsWithPendingKey(undefined, MOST_COUNTED)
  const failed = backlog.filter(({ state }) => state === "failed").reduce((sum, { items }) => sum + items, 0)
  return {
    ...summary,
    incidents,
    acknowledged_incidents: acknowledged.length,
    waiting_keys: waiting.length,
    dead_letters: failed,
  }
})

/** Operators' reads (docs/rules.md#lists). */
export class Queries extends Context.Service<
  Queries,
  {
    readonly agents: (parameters: PageParameters) => PageOf<Agent>
    /** Agents that are found by words, their status or a waiting key. */
    readonly findAgents: (parameters: FoundAgentParameters) => PageOf<Agent>
    readonly agent: (agentId: AgentId) => Effect.Effect<Agent, AgentNotFound | StorageError>
    readonly checks: (parameters: Narrowed<"checks">) => PageOf<CheckState>
    /** Checks with when they must report; with `is_overdue`, overdue ones only. */
    readonly expectedChecks: (parameters: ExpectedCheckParameters) => PageOf<ExpectedCheckState>
    readonly history: (parameters: Narrowed<"history">) => PageOf<StoredCheckResultEvent>
    readonly incidents: (parameters: Sorted<"incidents">) => PageOf<Incident>
    readonly outbox: (parameters: Sorted<"outbox">) => PageOf<NotificationOutboxItem>
    readonly blacklist: (parameters: PageParameters) => PageOf<AgentBlacklistItem>
    /** Changes that someone made, newest first (docs/rules.md#audit). */
    readonly audit: (parameters: Narrowed<"audit">) => PageOf<AuditEntry>
    readonly silences: (parameters: SilenceParameters) => PageOf<Silence>
    /** Counts that are current at their `generated_at`; concurrent calls share one computation. */
    readonly summary: Effect.Effect<SystemSummary, StorageError>
    /** The same with counts of what waits for people. */
    readonly overview: Effect.Effect<Overview, StorageError>
    readonly metricCounts: Effect.Effect<MetricCounts, StorageError>
  }
>()("@tocsin/core/usecases/Queries") {
  static readonly layer = Layer.effect(
    Queries,
    Effect.gen(function* () {
      const storage = yield* Storage
      const rules = yield* RuleSettings
      const { sha256 } = yield* Hashing

      const page = pageReader(storage, sha256)

      const serviceHeartbeat = yield* Effect.cachedWithTTL(storage.serviceHeartbeat, (exit) =>
        Exit.isSuccess(exit) ? Duration.min(HEARTBEAT_KEPT_FOR, serviceHeartbeatEvery(rules)) : 0,
      )
      const statusContext = Effect.gen(function* () {
        return { rules, serviceHeartbeat: yield* serviceHeartbeat, now: yield* Instant.now }
      })

      const agent = Effect.fnUntraced(function* (agentId: AgentId) {
        const record = yield* storage.agent(agentId)
        if (record === undefined) return yield* agentNotFound()
        return resources.toAgent(record, yield* statusContext)
      })

      const agents = Effect.fnUntraced(function* (parameters: PageParameters) {
        const found = yield* page(ALL_AGENTS, parameters, (row) => row)
        const context = yield* statusContext
        return { ...found, items: found.items.map((row) => resources.toAgent(row, context)) }
      })

      return Queries.of({
        agent,
        agents,
        findAgents: (parameters) =>
          Effect.flatMap(statusContext, (context) => findAgents(storage, sha256, context, parameters)),
        ...lists(page),
        expectedChecks: (parameters) => expectedChecks(storage, sha256, parameters),
        silences: (parameters) => silencesPage(storage, sha256, parameters),
        summary: yield* shared(summarise(storage, rules)),
        overview: yield* shared(overviewOf(storage, rules)),
        metricCounts: storage.metricCounts,
      })
    }),
  )
}

/** Reads pages of lists, as they are shown. */
const pageReader = (storage: Storage["Service"], sha256: (text: string) => string) =>
  Effect.fnUntraced(function* <L extends ListName, Item>(
    query: ListQuery<L>,
    parameters: PageParameters,
    toItem: (row: ListRows[L]) => Item,
  ) {
    const found = yield* readPage(storage, sha256, query, parameters)
    return { ...found, items: found.items.map(toItem) }
  })

/** The lists that need no more than their rows. */
const lists = (page: ReturnType<typeof pageReader>) =>
  ({
    checks: ({ agent_id, ...parameters }) =>
      page(
        { list: "checks", filter: { agent_id }, sort: "agent_id", direction: "asc" },
        parameters,
        resources.toCheckState,
      ),
    history: ({ agent_id, check_id, ...parameters }) =>
      page(
        { list: "history", filter: { agent_id, check_id }, sort: "stored", direction: "desc" },
        parameters,
        resources.toStoredEvent,
      ),
    incidents: ({ state, severity, agent_id, check_id, sort, direction, ...parameters }) =>
      page(
        { list: "incidents", filter: { state, severity, agent_id, check_id }, sort, direction },
        parameters,
        resources.toIncident,
      ),
    outbox: ({ state, notifier, event_type, sort, direction, ...parameters }) =>
      page(
        { list: "outbox", filter: { state, notifier, event_type }, sort, direction },
        parameters,
        resources.toOutboxItem,
      ),
    blacklist: (parameters) =>
      page(
        { list: "blacklist", filter: {}, sort: "stored", direction: "desc" },
        parameters,
        resources.toBlacklistItem,
      ),
    audit: ({ actor, action, subject, from, to, ...parameters }) =>
      page(
        { ...NEWEST_CHANGES, filter: { actor, action, subject, from, to } },
        parameters,
        resources.toAuditEntry,
      ),
  }) satisfies Partial<Queries["Service"]>

const summarise = Effect.fnUntraced(function* (storage: Storage["Service"], rules: RuleOptions) {
  const now = yield* Instant.now
  const counts = yield* storage.counts(aliveSince(now, rules))
  return { ...counts, generated_at: now }
})
