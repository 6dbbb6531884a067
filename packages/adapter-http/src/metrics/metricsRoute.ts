import { CurrentInstruments, type MetricSource } from "@tocsin/core/engine/metrics/Instruments"
import { metricDefinitions as metrics } from "@tocsin/core/engine/metrics/metricDefinitions"
import { type MetricFamily, single } from "@tocsin/core/engine/metrics/Metric"
import type { Policy } from "@tocsin/core/policy/compilePolicy"
import { PolicyInForce } from "@tocsin/core/policy/PolicyInForce"
import { Hashing } from "@tocsin/core/ports/Hashing"
import type { NotifierName } from "@tocsin/contract/Status"
import { Queries } from "@tocsin/core/usecases/Queries"
import { shared } from "@tocsin/core/usecases/singleFlight"
import { Duration, Effect, Fiber, Option, type Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Readiness } from "@tocsin/core/health/Readiness"
import * as Access from "../request/access.ts"
import { FailedAuthentications } from "../request/authentication.ts"
import { RequestId } from "../request/RequestId.ts"
import type { KnownRoute } from "../routes.ts"
import { errorResponse } from "../response/failures.ts"
import { EXPOSITION_TYPE, exposition } from "./exposition.ts"
import { processMetrics } from "./processMetrics.ts"
import { stateMetrics } from "./stateMetrics.ts"

/** The options of the metrics. */
export interface MetricsOptions {
  readonly access: Access.MetricsAccess
  /** The version of the service, for `tocsin_build_info`. */
  readonly version: string
}

/** Simultaneous and too frequent scrapes get the same answer. */
const KEPT_FOR = Duration.seconds(1)

/**
 * Less than the 10 s that Prometheus waits, so that one hanging source does not cost the others.
 */
const SOURCE_LIMIT = Duration.seconds(3)

/** The route of the metrics. */
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
    return [single(metrics.storageUp, Number(isUp)), ...instruments.read(), ...families]
  })
  const state = Effect.flatMap(isStorageUp, (isUp) =>
    read(isUp ? [stateMetrics(queries, notifiersOf(policy.current()))] : []),
  )
  const collect = Effect.map(Effect.all([own, state], { concurrency: "unbounded" }), (families) =>
    exposition(families.flat()),
  )
  return yield* shared(yield* Effect.cachedWithTTL(collect, KEPT_FOR))
})

/** The metrics as a route, in Prometheus' text format. */
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
