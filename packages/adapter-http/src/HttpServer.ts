// The v1 API over node:http. The layers provide `HttpServer` of `effect/http`, whose `address` has the port.
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as ApiRoutes from "./ApiRoutes.ts"
import * as AgentFront from "./fastpath/AgentFront.ts"
import * as NodeServer from "./NodeServer.ts"
import type { ConsoleFiles, About } from "./pages/PageRoutes.ts"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import * as Intake from "./request/Intake.ts"
import * as FailureLog from "./response/FailureLog.ts"
import { routerConfig } from "./routes.ts"

/** The first step of a shutdown: the service is not ready, and answers close their connections. */
const drainFirst = Layer.effectDiscard(
  Effect.gen(function* () {
    const { drain } = yield* Readiness
    yield* Effect.addFinalizer(() => drain)
  }),
)

export type ServerOptions = NodeServer.ListenOptions & ApiRoutes.ApiOptions

/** Serves the v1 API until its scope closes. Fails when it cannot listen. */
export const layer = (options: ServerOptions) => serve(ApiRoutes.layer(options), options)

/** The same with /ops/v1, what operators do beyond the contract. Requires the services of these too. */
export const layerWithOperations = (options: ServerOptions) =>
  serve(ApiRoutes.layerWithOperations(options), options)

/** The same with the state of the service at `/`, and the console. Requires HealthExamination too. */
export const layerWithPages = (options: ServerOptions, about: About, console?: ConsoleFiles) =>
  serve(ApiRoutes.layerWithPages(options, about, console), options)

const serve = <E, R>(routes: Layer.Layer<never, E, R>, options: ServerOptions) =>
  drainFirst.pipe(
    Layer.provideMerge(
      HttpRouter.serve(routes, {
        routerConfig,
        disableLogger: true,
        disableListenLog: true,
      }),
    ),
    Layer.provideMerge(NodeServer.layer(options, AgentFront.make(options))),
    Layer.provide([Intake.layer, FailureLog.layer, ApiRoutes.spanNames]),
  )
