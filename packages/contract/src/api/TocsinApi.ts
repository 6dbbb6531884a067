/**
 * The v1 API of Tocsin as a definition: paths, methods, schemas, statuses. It serves routing,
 * decoding, the OpenAPI document and typed clients, and loads no server. A client is
 * `HttpApiClient.make(TocsinApi, …)`; it provides {@link AgentAuthentication} or {@link
 * OperatorAuthentication} with `HttpApiMiddleware.layerClient`.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { AgentsApi } from "./AgentsApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { OperatorsApi } from "./OperatorsApi.ts"

/** Every endpoint of the contract, under /api/v1. */
export class TocsinApi extends HttpApi.make("tocsin")
  .add(AgentsApi, OperatorsApi, HealthApi)
  .prefix("/api/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Tocsin",
      version: "1.0.0",
      summary: "Monitoring: heartbeats and check results in, incidents and notifications out.",
    }),
  ) {}
