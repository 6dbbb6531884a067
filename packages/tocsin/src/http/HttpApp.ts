import { NodeHttpServer } from "@effect/platform-node"
import * as ApiRoutes from "@tocsin/adapter-http/ApiRoutes"
import { routerConfig } from "@tocsin/adapter-http/routerConfig"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Operations } from "@tocsin/core/usecases/Operations"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"

/** What the HTTP API of a monitor needs to know. */
export interface HttpOptions extends ApiRoutes.ApiOptions {
  /** What comes before the API's own paths, without a slash at its end; taken off where a path begins with it. */
  readonly basePath: string
}

/** The v1 API with `/ops/v1`, for hosts of both kinds. */
export class HttpApp extends Context.Service<
  HttpApp,
  {
    readonly web: (request: Request) => Promise<Response>
    readonly node: (request: IncomingMessage, response: ServerResponse) => void
  }
>()("tocsin/http/HttpApp") {
  /** Requests under way are interrupted when the layer's scope closes. */
  static readonly layer = (
    options: HttpOptions,
  ): Layer.Layer<HttpApp, never, ApiRoutes.ApiServices | Operations> =>
    Layer.effect(
      HttpApp,
      Effect.gen(function* () {
        const router = yield* HttpRouter.HttpRouter
        const scope = yield* Effect.scope
        const app = Effect.updateService(
          router.asHttpEffect(),
          HttpServerRequest.HttpServerRequest,
          withoutBasePath(options.basePath),
        )
        const services = yield* Effect.context<Platform>()
        return HttpApp.of({
          web: HttpEffect.toWebHandlerWith<Platform, OfRequest>(services)(app),
          node: yield* NodeHttpServer.makeHandler(app, { scope }),
        })
      }),
    ).pipe(
      Layer.provide(
        ApiRoutes.layerWithOperations(options).pipe(
          Layer.provideMerge(HttpRouter.layer),
          Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)),
          Layer.provideMerge(platform),
        ),
      ),
    )
}

const platform = NodeHttpServer.layerHttpServices
type Platform = Layer.Success<typeof platform>
type OfRequest = HttpServerRequest.HttpServerRequest | Scope.Scope

const withoutBasePath =
  (basePath: string) =>
  (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
    basePath !== "" && request.url.startsWith(`${basePath}/`)
      ? request.modify({ url: request.url.slice(basePath.length) })
      : request
