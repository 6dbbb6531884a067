import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { TryWatchRequest, WatchTrial } from "../Watches.ts"
import { Conflict, Internal, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { operationFor, OperatorAuthentication } from "./operation.ts"

const tryWatch = HttpApiEndpoint.post("tryWatch", "/watches/try", {
  payload: TryWatchRequest,
  success: WatchTrial,
  error: [Internal.wire, Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operationFor(
    "admin",
    "Watches",
    "Probe an address now",
    "Asks for a page or connects to a port, from the server, and answers with the result. Tocsin stores nothing of it. Refuses link-local and cloud metadata addresses, loopback unless SERVICE_WATCH_LOOPBACK is set, and private ones if SERVICE_DENY_PRIVATE_TARGETS is. Answers 409 in a program that contains Tocsin.",
  ),
)

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends HttpApiGroup.make("watches")
  .add(tryWatch)
  .middleware(OperatorAuthentication) {}
