import { Context, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { agentNotFound } from "../admission/AdmissionErrors.ts"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { ListFilters, ListName, ListQuery, ListRows, ListSort } from "../model/ListDefinitions.ts"
import {
  ALL_AGENTS,
  firstRows,
  matchingPages,
  type Page,
  type PageParameters,
  pageReader,
  pagesAt,
  readPage,
  startAt,
} from "../engine/lists/readPage.ts"
import { aliveSince, type StatusContext } from "../liveness/agentStatus.ts"
import { keptCounts } from "../liveness/keptCounts.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { serviceHeartbeatEvery } from "../liveness/outage.ts"
import { MOST_INTEGRATIONS } from "../integrations/integrationDecisions.ts"
import { ALL_INTEGRATIONS } from "../integrations/seeIntegrations.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { NumberMemory } from "./NumberMemory.ts"
import { readingNumbers } from "./Numbers.ts"
import * as resources from "./toResources.ts"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { Agent, CheckState, SystemSummary } from "@tocsin/contract/Resources"
import type { AgentStatus, ListedStatus } from "@tocsin/contract/Status"
import { hasWords } from "../engine/lists/searchWords.ts"
import { toAgent, toCheckState, toSilence } from "./toResources.ts"
import { type CheckRecord, type CheckRef, findByCheck } from "../model/CheckRecord.ts"
import type { Labels } from "@tocsin/contract/Labels"
import { dueTime } from "../expectations/dueTime.ts"
import type { CheckLabelRecord } from "../model/CheckLabelRecord.ts"
import type { ExpectationRecord } from "../model/ExpectationRecord.ts"

// Reading the service heartbeat once a second is enough: its effects last minutes.
const HEARTBEAT_KEPT_FOR = Duration.seconds(1)

type Narrowed<L extends ListName> = PageParameters & ListFilters[L]

export type Sorted<L extends ListName> = Narrowed<L> & {
  readonly sort: ListSort<L>
  readonly direction: "asc" | "desc"
}

/** More are not counted: they would be read. */
const MOST_COUNTED = 500

const overviewOf = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  summarise: Effect.Effect<SystemSummary, StorageError>,
) {
  const summary = yield* summarise
  const { backlog, incidents } = yield* storage.metricCounts
  const filter = { state: "open", acknowledged: true, at: summary.generated_at } as const
  const query = { list: "incidents", filter, sort: "status", direction: "desc" } as const
  const acknowledged = yield* firstRows(storage, query, MOST_COUNTED)
  const integrations = yield* firstRows(storage, ALL_INTEGRATIONS, MOST_INTEGRATIONS)
  const waiting = yield* storage.agentsWithPendingKey(undefined, MOST_COUNTED)
  const failed = backlog.filter(({ state }) => state === "failed").reduce((sum, { items }) => sum + items, 0)
  return {
    ...summary,
    incidents,
    // One whose key is blocked has no agent.
    integration_agents: integrations.filter(({ key_hash }) => key_hash !== undefined).length,
    acknowledged_incidents: acknowledged.length,
    waiting_keys: waiting.length,
    dead_letters: failed,
  }
})

/** Operators' reads (docs/rules.md#lists). */
export class Queries extends Context.Service<Queries>()("@tocsin/core/usecases/Queries", {
  make: Effect.gen(function* () {
    const storage = yield* Storage
    const rules = yield* RuleSettings
    const counts = yield* keptCounts(storage, yield* Commits)
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

    /** Lists planned rows by their state at the moment of the answer, the newest first. */
    const planned =
      <L extends "announcements" | "silences", Item>(
        list: L,
        toItem: (row: ListRows[L], now: Instant.Instant) => Item,
      ) =>
      ({ back, cursor, limit, ...filter }: PageParameters & Omit<ListFilters[L], "at">) =>
        Effect.flatMap(Instant.now, (now) =>
          pageReader(pagesAt(storage, now), sha256)<L, Item>(
            // The other parameters are those of the filter, and the lists have this order.
            { list, filter, sort: "created_at", direction: "desc" } as unknown as ListQuery<L>,
            { back, cursor, limit },
            toItem,
          ),
        )

    return {
      ...lists(pageReader(storage, sha256)),
      /** Numbers that checks measured (docs/rules.md#numbers). */
      numbers: readingNumbers(storage, yield* NumberMemory, shared),
      agents: Effect.fnUntraced(function* (parameters: PageParameters) {
        const found = yield* readPage(storage, sha256, ALL_AGENTS, parameters)
        const context = yield* statusContext
        return { ...found, items: found.items.map((row) => resources.toAgent(row, context)) }
      }),
      /** Agents that are found by words, their status or a waiting key. */
      findAgents: (parameters: FoundAgentParameters) =>
        Effect.flatMap(statusContext, (context) => findAgents(storage, sha256, context, parameters)),
      agent: Effect.fnUntraced(function* (agentId: AgentId) {
        const record = yield* storage.agent(agentId)
        if (record === undefined) return yield* agentNotFound()
        return resources.toAgent(record, yield* statusContext)
      }),
      /** Checks with when they must report; with `is_overdue`, overdue ones only. */
      expectedChecks: (parameters: ExpectedCheckParameters) => expectedChecks(storage, sha256, parameters),
      silences: planned("silences", toSilence),
      announcements: planned("announcements", resources.toAnnouncement),
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

const lists = (page: ReturnType<typeof pageReader>) => {
  const sorted =
    <L extends ListName, Item>(list: L, toItem: (row: ListRows[L], now: Instant.Instant) => Item) =>
    ({ back, cursor, direction, limit, sort, ...filter }: Sorted<L>) =>
      // The other parameters are those of the filter.
      page(
        { list, filter: filter as unknown as ListFilters[L], sort, direction },
        { back, cursor, limit },
        toItem,
      )
  const inOrder = <L extends ListName, Item>(
    list: L,
    order: Pick<Sorted<L>, "sort" | "direction">,
    toItem: (row: ListRows[L], now: Instant.Instant) => Item,
  ) => {
    const read = sorted(list, toItem)
    return (parameters: Narrowed<L>) => read({ ...parameters, ...order })
  }
  return {
    checks: inOrder("checks", { sort: "agent_id", direction: "asc" }, resources.toCheckState),
    history: inOrder("history", { sort: "stored", direction: "desc" }, resources.toStoredEvent),
    incidents: sorted("incidents", resources.toIncident),
    outbox: sorted("outbox", resources.toOutboxItem),
    blacklist: inOrder("blacklist", { sort: "stored", direction: "desc" }, resources.toBlacklistItem),
    /** Changes that someone made, newest first (docs/rules.md#audit). */
    audit: inOrder("audit", { sort: "recorded_at", direction: "desc" }, resources.toAuditEntry),
  }
}

export type FoundAgentParameters = PageParameters & {
  readonly search?: string | undefined
  readonly status?: AgentStatus | undefined
  /** Whether to list only agents of which a key waits for acceptance. */
  readonly is_waiting: boolean
  readonly from_agent?: AgentId | undefined
}

const agentText = ({ agent_id, hostname, labels = {} }: Agent): string =>
  [agent_id, hostname, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)].join(" ")

/** A page of agents that match. No index serves parts of names, or a status, which follows from the time. */
const findAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  context: StatusContext,
  { from_agent, is_waiting, search, status, ...paging }: FoundAgentParameters,
): Effect.fn.Return<Page<Agent>, ValidationError | StorageError> {
  const isWanted = (agent: Agent): boolean =>
    (status === undefined || agent.status === status) &&
    (!is_waiting || agent.admission_state === "pending" || agent.rotation_pending === true) &&
    hasWords(search, agentText(agent))
  const matching = matchingPages<"agents">(storage, (rows) =>
    Effect.succeed(rows.filter((row) => isWanted(toAgent(row, context)))),
  )
  const found = yield* readPage(matching, sha256, ALL_AGENTS, paging, startAt("agents", from_agent))
  return { ...found, items: found.items.map((row) => toAgent(row, context)) }
})

export type ExpectedCheckState = Omit<CheckState, "status" | "last_observed_at"> & {
  readonly status: CheckState["status"] | null
  readonly last_observed_at: CheckState["last_observed_at"] | null
  readonly expected_at: Instant.Instant | null
  readonly is_overdue: boolean
  readonly labels: Labels
}

/** These checks, in their order, with what is known of each. */
const toExpectedChecks = (
  refs: ReadonlyArray<CheckRef>,
  checks: ReadonlyArray<CheckRecord>,
  expectations: ReadonlyArray<ExpectationRecord>,
  labels: ReadonlyArray<CheckLabelRecord>,
): ReadonlyArray<ExpectedCheckState> => {
  const checkOf = findByCheck(checks)
  const expectationOf = findByCheck(expectations)
  const labelOf = findByCheck(labels)
  return refs.map((ref) => {
    const check = checkOf(ref)
    const expectation = expectationOf(ref)
    const { agent_id, check_id } = ref
    const shown =
      check === undefined ? { agent_id, check_id, status: null, last_observed_at: null } : toCheckState(check)
    return {
      ...shown,
      expected_at: expectation !== undefined ? dueTime(expectation, check?.received_at) : null,
      is_overdue: expectation?.incident_id !== undefined,
      labels: labelOf(ref)?.labels ?? {},
    }
  })
}

export type ExpectedCheckParameters = PageParameters & {
  readonly agent_id?: AgentId | undefined
  /** Whether to list overdue checks only, those included that never reported. */
  readonly is_overdue: boolean
  readonly status?: ListedStatus | undefined
  readonly search?: string | undefined
  readonly from_agent?: AgentId | undefined
}

const expectedChecks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  { from_agent, is_overdue, agent_id, search, status, ...parameters }: ExpectedCheckParameters,
): Effect.fn.Return<Page<ExpectedCheckState>, ValidationError | StorageError> {
  const order = { sort: "agent_id", direction: "asc" } as const
  const filter = { agent_id, search, status }
  const start = startAt("checks", agent_id === undefined ? from_agent : undefined)
  if (is_overdue) {
    const query = { ...order, list: "overdue", filter } as const
    const found = yield* readPage(storage, sha256, query, parameters, start)
    const checks = yield* storage.checks(found.items)
    const labels = yield* storage.rows("check_label", found.items)
    return { ...found, items: toExpectedChecks(found.items, checks, found.items, labels) }
  }
  const query = { ...order, list: "checks", filter } as const
  const found = yield* readPage(storage, sha256, query, parameters, start)
  const expectations = yield* storage.rows("expectation", found.items)
  const labels = yield* storage.rows("check_label", found.items)
  return { ...found, items: toExpectedChecks(found.items, found.items, expectations, labels) }
})
