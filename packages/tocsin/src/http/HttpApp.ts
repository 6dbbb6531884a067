import * as ApiRoutes from "@tocsin/adapter-http/ApiRoutes"
import type { ConsoleFiles, About } from "@tocsin/adapter-http/pages/PageRoutes"
import * as Intake from "@tocsin/adapter-http/request/Intake"
import * as FailureLog from "@tocsin/adapter-http/response/FailureLog"
import { routerConfig } from "@tocsin/adapter-http/routes"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"
import { belowBasePath } from "./hostHandlers.ts"

export interface HttpOptions extends ApiRoutes.ApiOptions {
  /** The prefix of the API's paths, without a slash at its end; taken off where a path begins with it. */
  readonly basePath: string
  /** The console at `/`, and what it says of the service; none unless given. */
  readonly pages?: { readonly console: ConsoleFiles; readonly about: About } | undefined
}

/** The v1 API with `/ops/v1`, for hosts of both kinds. */
export class HttpApp extends Context.Service<
  HttpApp,
  {
    readonly web: (request: Request) => Promise<Response>
    readonly node: (request: IncomingMessage, response: ServerResponse) => void
  }
>()("tocsin/http/HttpApp") {
  /**
   * Requests under way are interrupted when the layer's scope closes. Node's server is loaded when
   * the layer is built.
   */
  static readonly layer = (options: HttpOptions): Layer.Layer<HttpApp, never, Required> =>
    Layer.unwrap(Effect.map(nodeHttp, (loaded) => appOn(loaded, options)))
}

/** The parts of Node's HTTP platform that the API needs, loaded when a monitor starts. */
const nodeHttp = Effect.promise(async () => {
  const { nodeServices } = await import("@tocsin/adapter-http/nodeServices")
  const { makeHandler } = await import("@effect/platform-node/NodeHttpServer")
  return { nodeServices, makeHandler }
})

const routesOf = (options: HttpOptions) =>
  options.pages === undefined
    ? ApiRoutes.layerWithOperations(options)
    : ApiRoutes.layerWithPages(options, options.pages.about, options.pages.console)

const appOn = (
  { makeHandler, nodeServices }: NodeHttp,
  options: HttpOptions,
): Layer.Layer<HttpApp, never, Required> =>
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
        node: yield* makeHandler(app, { scope }),
      })
    }),
  ).pipe(
    Layer.provide(
      routesOf(options).pipe(
        Layer.provideMerge(HttpRouter.layer),
        Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)),
        Layer.provideMerge(nodeServices),
      ),
    ),
    Layer.provide([Intake.layer, FailureLog.layer]),
  )

type NodeHttp = Effect.Success<typeof nodeHttp>
type Platform = Layer.Success<NodeHttp["nodeServices"]>
type Required = Exclude<Layer.Services<ReturnType<typeof routesOf>>, HttpRouter.HttpRouter | Platform>
type OfRequest = HttpServerRequest.HttpServerRequest | Scope.Scope

const withoutBasePath =
  (basePath: string) =>
  (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest => {
    const url = basePath === "" ? undefined : belowBasePath(basePath, request.url)
    return url === undefined ? request : request.modify({ url })
  }
