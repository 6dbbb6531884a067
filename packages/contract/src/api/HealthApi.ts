import { HealthResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { NotReady } from "./ApiErrors.ts"
import { operation } from "./operation.ts"

/** Probes, without authentication (docs/rules.md#health-and-readiness). */
export class HealthApi extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("health", "/health", { success: HealthResponse }).annotateMerge(
    operation(
      "Health",
      "Whether the process answers",
      "Answers while the process runs, even if the storage is down. For liveness probes.",
    ),
  ),
  HttpApiEndpoint.get("ready", "/ready", { success: HealthResponse, error: NotReady.wire }).annotateMerge(
    operation(
      "Health",
      "Whether the service can do its work",
      "Reports whether the storage can be read and written and the service is not shutting down. Tocsin probes the storage every second. For readiness probes and load balancers.",
    ),
  ),
) {}
