import { EventBatchRequest, HeartbeatRequest } from "../Requests.ts"
import { AcceptedResponse, EventBatchAcceptedResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as ApiErrors from "./ApiErrors.ts"
import { AgentAuthentication } from "./Authentication.ts"
import { operation } from "./operation.ts"

/** What agents push (docs/rules.md#heartbeats, docs/rules.md#events). */
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
    }).annotateMerge(
      operation(
        "Reporting",
        "Report that an agent is alive; register its key if it is unknown",
        "Reports that an agent is alive. Hostname, features and labels replace the previous ones. An unknown key is registered as pending; `accepted` is false until an operator accepts it. Safe to repeat.",
      ),
    ),
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
    }).annotateMerge(
      operation(
        "Reporting",
        "Report results of checks",
        "Reports check results of one agent. Tocsin applies them in order, all or none, and stores them before it answers. Unchanged results, known event_ids and results older than the newest one of their check count as deduplicated. Safe to repeat.",
      ),
    ),
  )
  .middleware(AgentAuthentication) {}
