import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ActionCountResponse } from "../Responses.ts"
import {
  ChangeWatchRequest,
  CreateWatchRequest,
  PauseWatchRequest,
  TryWatchRequest,
  Watch,
  WatchListParameters,
  WatchPage,
  WatchPath,
  WatchTrial,
} from "../Watches.ts"
import { Conflict, NotFound, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Watches")

const listWatches = HttpApiEndpoint.get("listWatches", "/watches", {
  query: WatchListParameters,
  success: WatchPage,
}).annotateMerge(operation.read("List watches", "Lists watches by name, without header fields."))

const getWatch = HttpApiEndpoint.get("getWatch", "/watches/:name", {
  params: WatchPath,
  success: Watch,
  error: NotFound.wire,
}).annotateMerge(operation.read("Show a watch", "Shows a watch with its latest probe."))

const removeWatch = HttpApiEndpoint.delete("removeWatch", "/watches/:name", {
  params: WatchPath,
  success: ActionCountResponse,
  error: Conflict.wire,
}).annotateMerge(
  operation.admin(
    "Remove a watch",
    "Removes a watch with its check and history. Safe to repeat. Answers 409 for a watch of the policy.",
  ),
)

const createWatch = HttpApiEndpoint.post("createWatch", "/watches", {
  payload: CreateWatchRequest,
  success: Watch.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Create a watch",
    "Creates a watch, which is probed within seconds. Its check has its name, under the agent of SERVICE_WATCH_AGENT. Answers 409 if a watch has the name.",
  ),
)

const withBody = [Validation.wire, NotFound.wire, Conflict.wire, PayloadTooLarge.wire] as const

const changeWatch = HttpApiEndpoint.patch("changeWatch", "/watches/:name", {
  params: WatchPath,
  payload: ChangeWatchRequest,
  success: Watch,
  error: withBody,
}).annotateMerge(
  operation.admin(
    "Change a watch",
    "Changes a watch, or pauses it until it is resumed. Answers 409 for a watch of the policy.",
  ),
)

const pauseWatch = HttpApiEndpoint.post("pauseWatch", "/watches/:name/pause", {
  params: WatchPath,
  payload: PauseWatchRequest,
  success: Watch,
  error: withBody,
}).annotateMerge(operation.respond("Pause a watch", "Pauses a watch for up to 24 h, or ends its pause."))

const tryWatch = HttpApiEndpoint.post("tryWatch", "/watches/try", {
  payload: TryWatchRequest,
  success: WatchTrial,
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Probe an address now",
    "Runs a probe from the server, and answers with the result. Tocsin stores nothing of it. Refuses link-local and cloud metadata addresses, loopback unless SERVICE_WATCH_LOOPBACK is set, and private ones if SERVICE_DENY_PRIVATE_TARGETS is. Answers 409 in a program that contains Tocsin.",
  ),
)

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends HttpApiGroup.make("watches")
  .add(listWatches, getWatch, removeWatch)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(tryWatch, createWatch, changeWatch, pauseWatch)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
