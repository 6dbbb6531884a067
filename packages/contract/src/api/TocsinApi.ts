import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EventBatchRequest, HeartbeatRequest } from "../Requests.ts"
import { AcceptedResponse, EventBatchAcceptedResponse, HealthResponse } from "../Responses.ts"
import * as ApiErrors from "./ApiErrors.ts"
import { NotReady } from "./ApiErrors.ts"
import { OperatorsApi } from "./OperatorsApi.ts"
import { AgentAuthentication } from "./operation.ts"

/** The requests that agents push (docs/rules.md#heartbeats, docs/rules.md#events). */
class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.post("heartbeat", "/heartbeat", {
      payload: HeartbeatRequest,
      success: AcceptedResponse.pipe(HttpApiSchema.status(202)),
      error: [
        ApiErrors.Validation.wire,
        ApiErrors.AgentBlocked.wire,
        ApiErrors.Conflict.wire,
        ApiErrors.PayloadTooLarge.wire,
        ApiErrors.RateLimited.wire,
        ApiErrors.Internal.wire,
      ],
    }),
    HttpApiEndpoint.post("events", "/events", {
      payload: EventBatchRequest,
      success: EventBatchAcceptedResponse.pipe(HttpApiSchema.status(202)),
      error: [
        ApiErrors.Validation.wire,
        ApiErrors.AgentBlocked.wire,
        ApiErrors.AgentNotAccepted.wire,
        ApiErrors.PayloadTooLarge.wire,
        ApiErrors.Internal.wire,
      ],
    }),
  )
  .middleware(AgentAuthentication) {}

/** Probes, without authentication (docs/rules.md#health-and-readiness). */
class HealthApi extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("health", "/health", { success: HealthResponse }),
  HttpApiEndpoint.get("ready", "/ready", { success: HealthResponse, error: NotReady.wire }),
) {}

/**
 * The v1 API of Tocsin as a definition: paths, methods, schemas, statuses. It serves routing,
 * decoding, the OpenAPI document and typed clients, and loads no server. A client is
 * `HttpApiClient.make(TocsinApi, …)`; it provides {@link AgentAuthentication} or {@link
 * OperatorAuthentication} with `HttpApiMiddleware.layerClient`.
 */

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
