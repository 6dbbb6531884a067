import { EventBatchRequest, HeartbeatRequest } from "@tocsin/core/contract/Requests"
import { AcceptedResponse, EventBatchAcceptedResponse } from "@tocsin/core/contract/Responses"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiErrors from "./ApiErrors.ts"
import { AgentAuthentication } from "./Authentication.ts"

/** What agents push (docs/rules.md#heartbeats). */
export class AgentsApi extends HttpApiGroup.make("agents")
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
    }).annotate(OpenApi.Summary, "Report that an agent is alive; register its key if it is unknown"),
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
    }).annotate(OpenApi.Summary, "Report results of checks"),
  )
  .middleware(AgentAuthentication)
  .annotateMerge(
    OpenApi.annotations({ title: "Agents", description: "What agents push, with keys of their own." }),
  ) {}
