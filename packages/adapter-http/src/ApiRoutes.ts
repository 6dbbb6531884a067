import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as AgentHandlers from "./handlers/AgentHandlers.ts"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import type { DownloadFiles } from "./features/enrolment/DownloadFiles.ts"
import * as DownloadRoutes from "./features/enrolment/DownloadRoutes.ts"
import { beside as besideApi, handlers } from "./features.ts"
import * as DocumentRoutes from "./documents/DocumentRoutes.ts"
import type { AllowedOrigins } from "./response/headerFields.ts"
import type { OperatorTokens } from "./request/access.ts"
import * as authentication from "./request/authentication.ts"
import * as responseMiddleware from "./response/responseMiddleware.ts"
import { layer as metricsRoute, METRICS_ROUTE, type MetricsOptions } from "./metrics/metricsRoute.ts"
import {
  CHECK_METRICS_ROUTE,
  type CheckMetricsOptions,
  layer as checkMetricsRoute,
} from "./features/checkMetrics/checkMetricsRoute.ts"
import * as OperatorHandlers from "./handlers/OperatorHandlers.ts"
import type { ConsoleFiles, About } from "./pages/PageRoutes.ts"
import * as PageRoutes from "./pages/PageRoutes.ts"
import { type KnownRoute, routesOf, spanNames as spanNamesOf } from "./routes.ts"

export interface ApiOptions extends OperatorTokens {
  /** How many proxies before the server add to X-Forwarded-For; none unless given (docs/rules.md#rate-limits). */
  readonly trustedHops?: number | undefined
  /** Origins whose pages may call from browsers (CORS); none unless given. */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /** The files that a server with pages hands out below /agent; none unless given. */
  readonly handout?: DownloadFiles | undefined
  /** Metrics at /metrics, if given. */
  readonly metrics?: MetricsOptions | undefined
  /** Metrics of checks at /metrics/checks, if given. */
  readonly checkMetrics?: CheckMetricsOptions | undefined
}

const v1Routes = ({ trustedHops = 0, ...tokens }: ApiOptions) =>
  HttpApiBuilder.layer(TocsinApi).pipe(
    Layer.provide([AgentHandlers.v1(trustedHops), OperatorHandlers.v1, OperatorHandlers.health]),
    Layer.provide([authentication.layer(tokens), authentication.requestRules]),
  )

const opsRoutes = ({ trustedHops = 0, ...tokens }: ApiOptions) =>
  HttpApiBuilder.layer(OpsApi).pipe(
    Layer.provide([AgentHandlers.ops(trustedHops), ...OperatorHandlers.ops, ...handlers]),
    Layer.provide([authentication.layer(tokens), authentication.requestRules]),
  )

const knownToV1 = [...routesOf(TocsinApi, DocumentRoutes.v1.path), ...DocumentRoutes.viewerRoutes]
const knownToOps = [
  ...routesOf(OpsApi, DocumentRoutes.ops.path),
  ...besideApi.flatMap(({ routes }) => routes),
]

export const spanNames = spanNamesOf([...knownToV1, ...knownToOps, METRICS_ROUTE, CHECK_METRICS_ROUTE])

const failedAuthentications = ({ trustedHops = 0 }: ApiOptions) =>
  authentication.FailedAuthentications.layer(trustedHops)

/** The rules for every response, and the metrics that are served. */
const watched = (options: ApiOptions, api: ReadonlyArray<KnownRoute>) => {
  const { checkMetrics, metrics } = options
  const routes = [
    ...api,
    ...(metrics === undefined ? [] : [METRICS_ROUTE]),
    ...(checkMetrics === undefined ? [] : [CHECK_METRICS_ROUTE]),
  ]
  return Layer.mergeAll(
    responseMiddleware.layer({ ...options, routes }),
    metrics === undefined ? Layer.empty : metricsRoute({ ...options, metrics }),
    checkMetrics === undefined ? Layer.empty : checkMetricsRoute({ ...options, checkMetrics }),
  )
}

/**
 * The v1 API, its OpenAPI document at /openapi.json, and its viewer at /docs, as routes of an
 * HttpRouter with routerConfig.
 */
export const layer = (options: ApiOptions) =>
  Layer.mergeAll(
    v1Routes(options),
    DocumentRoutes.layer([DocumentRoutes.v1]),
    watched(options, knownToV1),
  ).pipe(Layer.provide(failedAuthentications(options)))

/** Routes of a server beside those of the API. */
interface Beside<R> {
  readonly layer: Layer.Layer<never, never, R>
  readonly routes: ReadonlyArray<KnownRoute>
}

const operationsBeside = <R>(options: ApiOptions, beside: Beside<R>) =>
  Layer.mergeAll(
    v1Routes(options),
    opsRoutes(options),
    ...besideApi.map((each) => each.layer),
    DocumentRoutes.layer([DocumentRoutes.v1, DocumentRoutes.ops]),
    beside.layer,
    watched(options, [...knownToV1, ...knownToOps, ...beside.routes]),
  ).pipe(Layer.provide(failedAuthentications(options)))

/** The same with /ops/v1, what operators do beyond the contract, and its document. Requires the services of these too. */
export const layerWithOperations = (options: ApiOptions) =>
  operationsBeside(options, { layer: Layer.empty, routes: [] })

/**
 * The same with the state of the service at `/`, and the console if its files are given.
 * Requires HealthExamination too.
 */
export const layerWithPages = (options: ApiOptions, about: About, console?: ConsoleFiles) => {
  const { handout, trustedHops } = options
  const pages = PageRoutes.make(about, { console, trustedHops })
  if (handout === undefined) return operationsBeside(options, pages)
  const downloads = DownloadRoutes.make(handout)
  return operationsBeside(options, {
    layer: Layer.merge(pages.layer, downloads.layer),
    routes: [...pages.routes, ...downloads.routes],
  })
}
