import { CurrentInstruments } from "@tocsin/core/engine/metrics/Instruments"
import { Effect, Tracer, type Types } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { withPlainPath } from "../request/plainPath.ts"
import type { KnownRoute } from "../response/allowedMethods.ts"
import { RequestMeter } from "./RequestMeter.ts"
import { routeTemplates } from "./routeTemplates.ts"

/** Counts and times every answer that the routes give. To be added before all else that looks at answers: the first is the outermost. */
export const layer = (routes: ReadonlyArray<KnownRoute>) => {
  const routeOf = routeTemplates(routes)
  return HttpRouter.middleware(
    Effect.gen(function* () {
      const meter = new RequestMeter(yield* CurrentInstruments)
      const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
      return Effect.fnUntraced(function* (
        httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>,
      ) {
        const start = performance.now()
        const { method, url } = withPlainPath(yield* HttpServerRequest.HttpServerRequest)
        const response = yield* httpEffect
        if (isTraced) yield* Effect.annotateCurrentSpan("tocsin.request_id", response.headers["x-request-id"])
        meter.of(routeOf(method, url), method).answered(response.status, performance.now() - start)
        return response
      })
    }),
    { global: true },
  )
}
