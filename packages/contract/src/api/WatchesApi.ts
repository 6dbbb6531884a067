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
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const listWatches = HttpApiEndpoint.get("listWatches", "/watches", {
  query: WatchListParameters,
  success: WatchPage,
}).annotate(RequiredRole, "read")

const getWatch = HttpApiEndpoint.get("getWatch", "/watches/:name", {
  params: WatchPath,
  success: Watch,
  error: NotFound.wire,
}).annotate(RequiredRole, "read")

const removeWatch = HttpApiEndpoint.delete("removeWatch", "/watches/:name", {
  params: WatchPath,
  success: ActionCountResponse,
  error: Conflict.wire,
}).annotate(RequiredRole, "admin")

const createWatch = HttpApiEndpoint.post("createWatch", "/watches", {
  payload: CreateWatchRequest,
  success: Watch.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "admin")

const withBody = [Validation.wire, NotFound.wire, Conflict.wire, PayloadTooLarge.wire] as const

const changeWatch = HttpApiEndpoint.patch("changeWatch", "/watches/:name", {
  params: WatchPath,
  payload: ChangeWatchRequest,
  success: Watch,
  error: withBody,
}).annotate(RequiredRole, "admin")

const pauseWatch = HttpApiEndpoint.post("pauseWatch", "/watches/:name/pause", {
  params: WatchPath,
  payload: PauseWatchRequest,
  success: Watch,
  error: withBody,
}).annotate(RequiredRole, "respond")

const tryWatch = HttpApiEndpoint.post("tryWatch", "/watches/try", {
  payload: TryWatchRequest,
  success: WatchTrial,
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "admin")

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends HttpApiGroup.make("watches")
  .add(listWatches, getWatch, removeWatch)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(tryWatch, createWatch, changeWatch, pauseWatch)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
