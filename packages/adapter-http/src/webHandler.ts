import { Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as ApiRoutes from "./ApiRoutes.ts"
import { routerConfig } from "./routerConfig.ts"

/**
 * The v1 API as a web-standard fetch handler, to mount in any server; `services` provides what the API requires.
 * Time limits on slow clients are then the host server's. `dispose` releases the services.
 */
export const webHandler = <E>(
  options: ApiRoutes.ApiOptions,
  services: Layer.Layer<Layer.Services<ReturnType<typeof ApiRoutes.layer>>, E>,
) => HttpRouter.toWebHandler(
    ApiRoutes.layer(options).pipe(Layer.provide(services), Layer.provide(HttpServer.layerServices)),
    { routerConfig, disableLogger: true },
  )
