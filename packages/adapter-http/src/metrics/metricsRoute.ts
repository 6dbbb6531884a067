import * as Instant from "@tocsin/contract/formats/Instant"
import type { SystemSummary } from "@tocsin/contract/v1/Resources"
import { CheckStatus, type NotifierName, Severity } from "@tocsin/contract/formats/Status"
import { CurrentInstruments, type MetricSource } from "@tocsin/core/kernel/engine/metrics/Instruments"
import {
  type Distribution,
  type MetricDefinition,
  type MetricFamily,
  type Reading,
  several,
  single,
} from "@tocsin/core/kernel/engine/metrics/Counters"
import { stateMetrics as metrics } from "@tocsin/core/heart/health/stateMetrics"
import { storageMetrics } from "@tocsin/core/kernel/engine/metrics/storageMetrics"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import type { Policy } from "@tocsin/core/heart/policy/compilePolicy"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import {
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  type MetricCounts,
} from "@tocsin/core/kernel/ports/Storage"
import { Queries } from "@tocsin/core/lists/Queries"
import { Duration, Effect, Fiber, Option, type Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { RequestId } from "../response/headerFields.ts"
import * as Access from "../request/access.ts"
import { FailedAuthentications } from "../request/authentication.ts"
import { errorResponse } from "../response/failures.ts"
import type { KnownRoute } from "../routes.ts"
import { processMetrics } from "./processMetrics.ts"

/** The content type of the text (Prometheus, text format 0.0.4). */
const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

const numberText = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return "+Inf"
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
}

type Label = readonly [name: string, value: string]

const labelsText = (labels: ReadonlyArray<Label>): string =>
  labels.length === 0 ? "" : `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join()}}`

const line = (name: string, labels: ReadonlyArray<Label>, value: number): string =>
  `${name}${labelsText(labels)} ${numberText(value)}`

const distributionLines = (
  { name, buckets }: MetricDefinition,
  labels: ReadonlyArray<Label>,
  { counts, sum }: Distribution,
): ReadonlyArray<string> => {
  let total = 0
  const lines = counts.map((count, index) => {
    total += count
    const bound = buckets[index] ?? Number.POSITIVE_INFINITY
    return line(`${name}_bucket`, [...labels, ["le", numberText(bound)]], total)
  })
  return [...lines, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)]
}

const readingLines = (definition: MetricDefinition, reading: Reading): ReadonlyArray<string> => {
  const labels = definition.labels.map((name, index): Label => [name, reading.labels[index] ?? ""])
  return typeof reading.value === "number"
    ? [line(definition.name, labels, reading.value)]
    : distributionLines(definition, labels, reading.value)
}

/** Metrics as text. Families of one definition become one; families without a reading are left out. */
export const exposition = (families: ReadonlyArray<MetricFamily>): string => {
  const known = Map.groupBy(
    families.filter(({ readings }) => readings.length > 0),
    ({ definition }) => definition,
  )
  const lines = Array.from(known, ([definition, all]) => [
    `# HELP ${definition.name} ${escapeHelp(definition.help)}`,
    `# TYPE ${definition.name} ${definition.type}`,
    ...all.flatMap(({ readings }) => readings.flatMap((reading) => readingLines(definition, reading))),
  ])
  return lines
    .flat()
    .map((text) => `${text}\n`)
    .join("")
}

const MICROS_PER_SECOND = 1_000_000
const WAITING: ReadonlySet<BacklogState> = new Set(["pending", "retry", "sending"])

/** Counts of agents, checks, incidents and notifications. A configured notifier without any has 0. */
const stateMetrics = (queries: Queries["Service"], configured: ReadonlyArray<NotifierName>) =>
  Effect.gen(function* () {
    const [summary, metricCounts] = yield* Effect.all([queries.summary, queries.metricCounts], {
      concurrency: 2,
    })
    const now = yield* Instant.now
    return [...countFamilies(summary, metricCounts), ...outboxFamilies(metricCounts.backlog, configured, now)]
  })

const countFamilies = (summary: SystemSummary, metricCounts: MetricCounts): ReadonlyArray<MetricFamily> => {
  const { agents_online, agents_offline } = summary
  const { agents_dead, agents_pending, incidents, keys_blocked, late, of_places } = metricCounts
  const checksOf = (status: CheckStatus) =>
    of_places.reduce(
      (left, each) => (each.status === status ? Math.max(0, left - each.checks) : left),
      summary[`checks_${status}`],
    )
  const lateOf = (severity: Severity) =>
    late.reduce((sum, each) => (each.severity === severity ? sum + each.checks : sum), 0)
  return [
    several(metrics.agents, [
      [["alive"], agents_online],
      // Two reads: an agent that the first one saw alive may be dead in the second.
      [["stale"], Math.max(0, agents_offline - agents_dead)],
      [["dead"], agents_dead],
      [["pending"], agents_pending],
    ]),
    single(metrics.keysBlocked, keys_blocked),
    several(
      metrics.checks,
      CheckStatus.literals.map((status) => [[status], checksOf(status)] as const),
    ),
    several(
      metrics.checksLate,
      Severity.literals.map((severity) => [[severity], lateOf(severity)] as const),
    ),
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

export interface MetricsOptions {
  readonly access: Access.MetricsAccess
  /** The version of the service, for `tocsin_build_info`. */
  readonly version: string
}

/** Simultaneous and too frequent scrapes get the same answer. */
const KEPT_FOR = Duration.seconds(1)

/** Less than the 10 s that Prometheus waits, so that one hanging source does not cost the others. */
const SOURCE_LIMIT = Duration.seconds(3)

export const METRICS_ROUTE = { method: "GET", path: "/metrics" } as const satisfies KnownRoute

/** The readings of a source, or none if it is too slow. A slow source is not waited for to stop. */
const inTime = (
  source: Effect.Effect<ReadonlyArray<MetricFamily>, unknown>,
  scope: Scope.Scope,
): Effect.Effect<ReadonlyArray<MetricFamily>> =>
  Effect.forkIn(source, scope).pipe(
    Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.join(fiber), SOURCE_LIMIT)),
    Effect.map(Option.getOrElse(() => [])),
    Effect.catchCause((cause) =>
      Effect.as(Effect.logDebug("some metrics could not be read; the others are reported", cause), []),
    ),
  )

/** The notifiers of all receivers, as outbox items name them. */
const notifiersOf = ({ receivers }: Policy): ReadonlyArray<NotifierName> =>
  Array.from(new Set(Array.from(receivers.values(), ({ kind }) => kind)))

const makeText = Effect.fnUntraced(function* ({ version }: MetricsOptions) {
  const scope = yield* Effect.scope
  const instruments = yield* CurrentInstruments
  const { isStorageUp } = yield* Readiness
  const queries = yield* Queries
  const policy = yield* PolicyInForce
  yield* instruments.addSource(yield* processMetrics(version))
  const read = (sources: ReadonlyArray<MetricSource>) =>
    Effect.map(
      Effect.forEach(sources, (source) => inTime(source, scope), { concurrency: "unbounded" }),
      (families) => families.flat(),
    )
  const own = Effect.gen(function* () {
    const isUp = yield* isStorageUp
    const families = yield* read(instruments.sources)
    return [single(storageMetrics.storageUp, Number(isUp)), ...instruments.read(), ...families]
  })
  const state = Effect.flatMap(isStorageUp, (isUp) =>
    read(isUp ? [stateMetrics(queries, notifiersOf(policy.current()))] : []),
  )
  const collect = Effect.map(Effect.all([own, state], { concurrency: "unbounded" }), (families) =>
    exposition(families.flat()),
  )
  return yield* Effect.cachedWithTTL(collect, KEPT_FOR)
})

export const layer = (tokens: Access.OperatorTokens & { readonly metrics: MetricsOptions }) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { note } = yield* FailedAuthentications
      const access = Access.make(tokens, yield* Hashing)
      const text = yield* makeText(tokens.metrics)
      const answer = Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const refusal = access.metrics(headers["authorization"])
        if (refusal !== undefined) {
          yield* note(refusal)
          return errorResponse(refusal, yield* RequestId)
        }
        return HttpServerResponse.text(yield* text, { contentType: EXPOSITION_TYPE })
      })
      yield* router.add(METRICS_ROUTE.method, METRICS_ROUTE.path, answer)
    }),
  )
