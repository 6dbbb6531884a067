import { HealthResponse } from "@tocsin/core/contract/Responses"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { NotReady } from "./ApiErrors.ts"

/** Whether the service runs, and whether it can work (docs/rules.md#health-and-readiness). Needs no authentication. */
export class HealthApi extends HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("health", "/health", { success: HealthResponse }).annotate(
      OpenApi.Summary,
      "Whether the process answers",
    ),
    HttpApiEndpoint.get("ready", "/ready", { success: HealthResponse, error: NotReady.wire }).annotate(
      OpenApi.Summary,
      "Whether the service can do its work",
    ),
  )
  .annotateMerge(OpenApi.annotations({ title: "Health", description: "For probes; no authentication." })) {}
