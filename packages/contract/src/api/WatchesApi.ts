import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { TryWatchRequest, WatchTrial } from "../Watches.ts"
import { Conflict, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { operationsOf, OperatorAuthentication } from "./operation.ts"

const operation = operationsOf("Watches")

const tryWatch = HttpApiEndpoint.post("tryWatch", "/watches/try", {
  payload: TryWatchRequest,
  success: WatchTrial,
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Probe an address now",
    "Asks for a page or connects to a port, from the server, and answers with the result. Tocsin stores nothing of it. Refuses link-local and cloud metadata addresses, loopback unless SERVICE_WATCH_LOOPBACK is set, and private ones if SERVICE_DENY_PRIVATE_TARGETS is. Answers 409 in a program that contains Tocsin.",
  ),
)

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends HttpApiGroup.make("watches")
  .add(tryWatch)
  .middleware(OperatorAuthentication) {}
