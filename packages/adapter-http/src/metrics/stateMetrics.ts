import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import type { SystemSummary } from "@tocsin/core/contract/Resources"
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

/** What is in the storage: of agents, checks, incidents and notifications. Those of told notifiers are 0 where there are none. */
export const stateMetrics = (queries: Queries["Service"], told: ReadonlyArray<NotifierName>) =>
  Effect.gen(function* () {
    const [summary, metricCounts] = yield* Effect.all([queries.summary, queries.metricCounts], {
      concurrency: 2,
    })
    const now = yield* Instant.now
    return [...countFamilies(summary, metricCounts), ...outboxFamilies(metricCounts.backlog, told, now)]
  })

const countFamilies = (summary: SystemSummary, metricCounts: MetricCounts): ReadonlyArray<MetricFamily> => {
  const { agents_online, agents_offline } = summary
  const { agents_dead, agents_pending, incidents, keys_blocked } = metricCounts
  return [
    several(metrics.agents, [
      [["alive"], agents_online],
      // Two reads: who is found dead by the second one may have been alive at the first.
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
  told: ReadonlyArray<NotifierName>,
  now: Instant.Instant,
): ReadonlyArray<MetricFamily> => {
  const notifiers = Array.from(new Set([...told, ...backlog.map(({ notifier }) => notifier)]))
  const of = (notifier: NotifierName) => backlog.filter((one) => one.notifier === notifier)
  const ageOf = (notifier: NotifierName): number => {
    const ages = of(notifier)
      .filter(({ state }) => WAITING.has(state))
      .map(({ oldest_created_at }) => Number(now - oldest_created_at) / MICROS_PER_SECOND)
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
