import { Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as ApiRoutes from "./ApiRoutes.ts"
import * as FailureLog from "./response/FailureLog.ts"
import { routerConfig } from "./routerConfig.ts"

/**
 * The v1 API as a web-standard fetch handler, to mount in any server on Node, Deno or Bun; `services` makes what it
 * requires, and `dispose` releases that. Limits on slow clients are then the host server's (docs/rules.md#slow-clients).
 */
export const webHandler = <E>(
  options: ApiRoutes.ApiOptions,
  services: Layer.Layer<ApiRoutes.ApiServices, E>,
) =>
  HttpRouter.toWebHandler(
    ApiRoutes.layer(options).pipe(Layer.provide([services, FailureLog.layer, HttpServer.layerServices])),
    { routerConfig, disableLogger: true },
  )
