import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Parameters from "../v1/Parameters.ts"
import { EventBatchRequest, HeartbeatRequest } from "../v1/Requests.ts"
import { Agent, SystemSummary } from "../v1/Resources.ts"
import * as Responses from "../v1/Responses.ts"
import * as ApiErrors from "./ApiErrors.ts"
import { AgentAuthentication, operatorsGroup, role } from "./operation.ts"

/** The requests that agents push (docs/rules.md#heartbeats, docs/rules.md#events). */
class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.post("heartbeat", "/heartbeat", {
      payload: HeartbeatRequest,
      success: Responses.AcceptedResponse.pipe(HttpApiSchema.status(202)),
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
      success: Responses.EventBatchAcceptedResponse.pipe(HttpApiSchema.status(202)),
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
  HttpApiEndpoint.get("health", "/health", { success: Responses.HealthResponse }),
  HttpApiEndpoint.get("ready", "/ready", {
    success: Responses.HealthResponse,
    error: ApiErrors.NotReady.wire,
  }),
) {}

const params = Parameters.AgentPathParameters
const success = Responses.ActionCountResponse
const error = ApiErrors.NotFound.wire

/** Operators' reads and decisions (docs/rules.md#lists, docs/rules.md#accept-block-remove). */
class OperatorsApi extends operatorsGroup(
  "operators",
  role.read.get("listAgents", "/agents", {
    query: Parameters.PageParameters,
    success: Responses.AgentPage,
  }),
  role.read.get("getAgent", "/agents/:agent_id", { params, success: Agent, error }),
  role.admin.delete("deleteAgent", "/agents/:agent_id", { params, success, error }),
  role.admin.post("acceptAgent", "/agents/:agent_id/accept", { params, success, error }),
  role.admin.post("blockAgent", "/agents/:agent_id/block", { params, success, error }),
  role.admin.post("acceptAll", "/agents/admission/accept-all", {
    query: Parameters.AcceptAllParameters,
    success,
  }),
  role.admin.post("blockAll", "/agents/admission/block-all", { success }),
  role.admin.post("removeAll", "/agents/admission/remove-all", { success }),
  role.read.get("listBlacklist", "/agents/admission/blacklist", {
    query: Parameters.BlacklistParameters,
    success: Responses.AgentBlacklistPage,
  }),
  role.admin.delete("deleteBlacklist", "/agents/admission/blacklist", { success }),
  role.admin.delete("deleteBlacklistRow", "/agents/admission/blacklist/:key_id", {
    params: Parameters.BlacklistPathParameters,
    success,
  }),
  role.read.get("listChecks", "/checks", {
    query: Parameters.CheckListParameters,
    success: Responses.CheckStatePage,
  }),
  role.read.get("listIncidents", "/incidents", {
    query: Parameters.IncidentListParameters,
    success: Responses.IncidentPage,
  }),
  role.read.get("queryEvents", "/events/query", {
    query: Parameters.EventListParameters,
    success: Responses.StoredCheckResultEventPage,
  }),
  role.read.get("getSummary", "/system-summary", { success: SystemSummary }),
  role.read.get("listOutbox", "/notifiers/outbox", {
    query: Parameters.OutboxListParameters,
    success: Responses.NotificationOutboxPage,
  }),
) {}

/**
 * The v1 API of Tocsin: every endpoint of the contract, under /api/v1. It serves routing, decoding, the OpenAPI
 * document and typed clients, and loads no server. A client is `HttpApiClient.make(TocsinApi, …)`; it provides
 * {@link AgentAuthentication} or {@link OperatorAuthentication} with `HttpApiMiddleware.layerClient`.
 */
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
