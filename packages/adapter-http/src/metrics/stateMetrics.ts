import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import type { SystemSummary } from "@tocsin/contract/Resources"
import {
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  type MetricCounts,
} from "@tocsin/core/ports/StorageCounts"
import { metricDefinitions as metrics } from "@tocsin/core/engine/metrics/metricDefinitions"
import { type MetricFamily, several, single } from "@tocsin/core/engine/metrics/Metric"
import type { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"

const MICROS_PER_SECOND = 1_000_000
const WAITING: ReadonlySet<BacklogState> = new Set(["pending", "retry", "sending"])

/**
 * Counts of agents, checks, incidents and notifications. A configured notifier without any has 0.
 */
export const stateMetrics = (queries: Queries["Service"], configured: ReadonlyArray<NotifierName>) =>
  Effect.gen(function* () {
    const [summary, metricCounts] = yield* Effect.all([queries.summary, queries.metricCounts], {
      concurrency: 2,
    })
    const now = yield* Instant.now
    return [...countFamilies(summary, metricCounts), ...outboxFamilies(metricCounts.backlog, configured, now)]
  })

const countFamilies = (summary: SystemSummary, metricCounts: MetricCounts): ReadonlyArray<MetricFamily> => {
  const { agents_online, agents_offline } = summary
  const { agents_dead, agents_pending, incidents, keys_blocked } = metricCounts
  return [
    several(metrics.agents, [
      [["alive"], agents_online],
      // Two reads: an agent that the first one saw alive may be dead in the second.
      [["stale"], Math.max(0, agents_offline - agents_dead)],
      [["dead"], agents_dead],
      [["pending"], agents_pending],
    ]),
    single(metrics.keysBlocked, keys_blocked),
    several(metrics.checks, [
      [["ok"], summary.checks_ok],
      [["warning"], summary.checks_warning],
      [["critical"], summary.checks_critical],
      [["unknown"], summary.checks_unknown],
    ]),
    several(
      metrics.incidents,
      Object.entries(incidents).map(([severity, count]) => [[severity], count] as const),
    ),
  ]
}

const outboxFamilies = (
  backlog: ReadonlyArray<Backlog>,
  configured: ReadonlyArray<NotifierName>,
  now: Instant.Instant,
): ReadonlyArray<MetricFamily> => {
  const notifiers = Array.from(new Set([...configured, ...backlog.map(({ notifier }) => notifier)]))
  const of = (notifier: NotifierName) => backlog.filter((one) => one.notifier === notifier)
  const ageOf = (notifier: NotifierName): number => {
    const ages = of(notifier)
      .filter(({ state }) => WAITING.has(state))
      .map(({ waiting_since }) => Number(now - waiting_since) / MICROS_PER_SECOND)
    return Math.max(0, ...ages)
  }
  const itemsOf = (notifier: NotifierName, state: BacklogState): number =>
    of(notifier).find((one) => one.state === state)?.items ?? 0
  return [
    several(
      metrics.outboxItems,
      notifiers.flatMap((notifier) =>
        BACKLOG_STATES.map((state) => [[notifier, state], itemsOf(notifier, state)] as const),
      ),
    ),
    several(
      metrics.outboxAge,
      notifiers.map((notifier) => [[notifier], ageOf(notifier)] as const),
    ),
  ]
}
