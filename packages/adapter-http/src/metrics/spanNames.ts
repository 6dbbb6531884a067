import { Layer } from "effect"
import { HttpMiddleware } from "effect/http"
import { withPlainPath } from "../request/plainPath.ts"
import type { KnownRoute } from "../response/allowedMethods.ts"
import { routeTemplates, UNMATCHED } from "./routeTemplates.ts"

/** Names the span of a request by its method and its route, where that is one of these. */
export const spanNames = (routes: ReadonlyArray<KnownRoute>): Layer.Layer<never> => {
  const routeOf = routeTemplates(routes)
  return Layer.succeed(HttpMiddleware.SpanNameGenerator, (request) => {
    const { method, url } = withPlainPath(request)
    const route = routeOf(method, url)
    return route === UNMATCHED ? method : `${method} ${route}`
  })
}
