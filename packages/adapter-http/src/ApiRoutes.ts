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
}

/** The v1 API, and its OpenAPI document at /openapi.json, as routes of an HttpRouter that has {@link routerConfig}. */
export const layer = ({ uiTokens }: ApiOptions) =>
  HttpApiBuilder.layer(TocsinApi, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([AgentHandlers.layer, OperatorHandlers.layer, HealthHandlers.layer]),
    Layer.provide([authentication.layer(uiTokens), requestRules.layer]),
    Layer.merge(everyResponse.layer),
  )
