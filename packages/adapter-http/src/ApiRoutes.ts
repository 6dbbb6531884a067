import type { Ids } from "@tocsin/core/ports/Ids"
import type { Admission } from "@tocsin/core/usecases/Admission"
import type { Ingest } from "@tocsin/core/usecases/Ingest"
import type { Queries } from "@tocsin/core/usecases/Queries"
import { Layer, type Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as AgentHandlers from "./handlers/AgentHandlers.ts"
import { TocsinApi } from "./api.ts"
import * as authentication from "./request/authentication.ts"
import * as everyResponse from "./response/everyResponse.ts"
import * as HealthHandlers from "./handlers/HealthHandlers.ts"
import * as OperatorHandlers from "./handlers/OperatorHandlers.ts"
import type { Readiness } from "./Readiness.ts"
import * as requestRules from "./request/requestRules.ts"

/** What the API needs to know. */
export interface ApiOptions {
  /** The operators' tokens; all of them are valid (contract, Authentication). */
  readonly uiTokens: ReadonlyArray<Redacted.Redacted>
  /** How many proxies before the server add to X-Forwarded-For; none unless given (decisions §4). */
  readonly trustedHops?: number | undefined
}

/** What the API requires; {@link Readiness.layer} makes the last one. */
export type ApiServices = Ingest | Admission | Queries | Ids | Readiness

/** The v1 API, and its OpenAPI document at /openapi.json, as routes of an HttpRouter that has {@link routerConfig}. */
export const layer = ({ uiTokens, trustedHops = 0 }: ApiOptions) =>
  HttpApiBuilder.layer(TocsinApi, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([AgentHandlers.layer(trustedHops), OperatorHandlers.layer, HealthHandlers.layer]),
    Layer.provide([authentication.layer(uiTokens), requestRules.layer]),
    Layer.merge(everyResponse.layer),
  )
