import type { Ids } from "@tocsin/core/ports/Ids"
import type { Admission } from "@tocsin/core/usecases/Admission"
import type { Ingest } from "@tocsin/core/usecases/Ingest"
import type { Queries } from "@tocsin/core/usecases/Queries"
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as AgentHandlers from "./handlers/AgentHandlers.ts"
import { TocsinApi } from "./api.ts"
import { OpsApi } from "./api/OpsApi.ts"
import * as authentication from "./request/authentication.ts"
import { routesOf } from "./response/allowedMethods.ts"
import * as everyResponse from "./response/everyResponse.ts"
import * as OpsHandlers from "./handlers/OpsHandlers.ts"
import * as HealthHandlers from "./handlers/HealthHandlers.ts"
import * as OperatorHandlers from "./handlers/OperatorHandlers.ts"
import type { Readiness } from "./Readiness.ts"
import * as requestRules from "./request/requestRules.ts"

/** What the API needs to know. */
export interface ApiOptions extends authentication.OperatorTokens {
  /** How many proxies before the server add to X-Forwarded-For; none unless given (decisions §4). */
  readonly trustedHops?: number | undefined
}

/** What the API requires; {@link Readiness.layer} makes the last one. */
export type ApiServices = Ingest | Admission | Queries | Ids | Readiness

const V1_DOCUMENT = "/openapi.json"
const OPS_DOCUMENT = "/ops/v1/openapi.json"

const v1Routes = ({ trustedHops = 0, ...tokens }: ApiOptions) =>
  HttpApiBuilder.layer(TocsinApi, { openapiPath: V1_DOCUMENT }).pipe(
    Layer.provide([AgentHandlers.layer(trustedHops), OperatorHandlers.layer, HealthHandlers.layer]),
    Layer.provide([authentication.layer(tokens), requestRules.layer]),
  )

const opsRoutes = (tokens: authentication.OperatorTokens) =>
  HttpApiBuilder.layer(OpsApi, { openapiPath: OPS_DOCUMENT }).pipe(
    Layer.provide(OpsHandlers.layer),
    Layer.provide([authentication.layer(tokens), requestRules.layer]),
  )

const knownToV1 = routesOf(TocsinApi, V1_DOCUMENT)
const knownToOps = routesOf(OpsApi, OPS_DOCUMENT)

/** The v1 API, and its OpenAPI document at /openapi.json, as routes of an HttpRouter with the settings of routerConfig. */
export const layer = (options: ApiOptions) => Layer.merge(v1Routes(options), everyResponse.layer(knownToV1))

/**
 * The same with what operators do beyond the contract, under /ops/v1, and its document at /ops/v1/openapi.json. Requires
 * Operations too.
 */
export const layerWithOperations = (options: ApiOptions) =>
  Layer.mergeAll(v1Routes(options), opsRoutes(options), everyResponse.layer([...knownToV1, ...knownToOps]))
