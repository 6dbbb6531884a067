import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AgentPathParameters } from "../v1/Parameters.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import * as watches from "./Watches.ts"
import { PlaceList, PlaceWatchesQuery } from "./places.ts"
import {
  AgentBlocked,
  AgentNotAccepted,
  Conflict,
  Internal,
  NotFound,
  RateLimited,
} from "../api/ApiErrors.ts"
import {
  AgentAuthentication,
  IgnoredBody,
  operatorsGroup,
  paged,
  role,
  ValidParameters,
} from "../api/operation.ts"

const watch = { params: watches.WatchPath, success: watches.Watch }

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends operatorsGroup(
  "watches",
  role.read.get("listWatches", "/watches", paged(watches.Watch, "WatchPage")),
  role.read.get("listPlaces", "/places", { success: PlaceList }),
  role.read.get("getWatch", "/watches/:name", { ...watch, error: NotFound.wire }),
  role.admin.delete("removeWatch", "/watches/:name", {
    ...watch,
    success: ActionCountResponse,
    error: Conflict.wire,
  }),
  role.admin.post("tryWatch", "/watches/try", {
    payload: watches.TryWatchRequest,
    success: watches.WatchTrial,
    error: Conflict.wire,
  }),
  role.admin.post("createWatch", "/watches", {
    payload: watches.CreateWatchRequest,
    success: watches.Watch.pipe(HttpApiSchema.status(201)),
    error: Conflict.wire,
  }),
  role.admin.patch("changeWatch", "/watches/:name", {
    ...watch,
    payload: watches.ChangeWatchRequest,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.respond.post("pauseWatch", "/watches/:name/pause", {
    ...watch,
    payload: watches.PauseWatchRequest,
    error: [NotFound.wire, Conflict.wire],
  }),
) {}

/** Agents ask with their own keys for the watches that they are to probe (docs/rules.md#places). */
export class PlaceWatchesApi extends HttpApiGroup.make("placeWatches")
  .add(
    HttpApiEndpoint.get("askWatches", "/agents/:agent_id/watches", {
      params: AgentPathParameters,
      query: PlaceWatchesQuery,
      success: watches.AskedWatches,
      error: [AgentBlocked.wire, AgentNotAccepted.wire, RateLimited.wire, Internal.wire],
    }),
  )
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(AgentAuthentication) {}
