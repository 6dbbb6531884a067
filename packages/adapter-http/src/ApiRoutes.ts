import { Layer, type Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as AgentHandlers from "./AgentHandlers.ts"
import { TocsinApi } from "./api.ts"
import * as authentication from "./authentication.ts"
import * as everyResponse from "./everyResponse.ts"
import * as HealthHandlers from "./HealthHandlers.ts"
import * as OperatorHandlers from "./OperatorHandlers.ts"
import * as requestRules from "./requestRules.ts"

/** What the API needs to know. */
export interface ApiOptions {
  /** The operators' tokens; all of them are valid (contract, Authentication). */
  readonly uiTokens: ReadonlyArray<Redacted.Redacted>
  /** How many proxies before the server add to X-Forwarded-For; none unless given (decisions §4). */
  readonly trustedHops?: number | undefined
}

/** The v1 API, and its OpenAPI document at /openapi.json, as routes of an HttpRouter that has {@link routerConfig}. */
export const layer = ({ uiTokens, trustedHops = 0 }: ApiOptions) =>
  HttpApiBuilder.layer(TocsinApi, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([AgentHandlers.layer(trustedHops), OperatorHandlers.layer, HealthHandlers.layer]),
    Layer.provide([authentication.layer(uiTokens), requestRules.layer]),
    Layer.merge(everyResponse.layer),
  )
