import { requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { Layer } from "effect"
import { FindMyWay, HttpMiddleware, type HttpServerRequest } from "effect/http"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"

/**
 * Paths are compared as they are. The router does not limit a parameter's length: one that is too
 * long is 400, not 404.
 */
export const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Number.MAX_SAFE_INTEGER,
} as const

export interface KnownRoute {
  readonly method: string
  readonly path: FindMyWay.PathInput
}

export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
) => {
  const found: Array<{ readonly group: string; readonly endpoint: HttpApiEndpoint.Top }> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => found.push({ group: group.identifier, endpoint }),
  })
  return found
}

/** The routes of an API, and that of its OpenAPI document. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  documentPath: FindMyWay.PathInput,
): ReadonlyArray<KnownRoute> => [
  { method: "GET", path: documentPath },
  // The paths of a definition begin with a slash; its erased type has forgotten it.
  ...endpointsOf(api).map(({ endpoint: { method, path } }) => ({
    method,
    path: path as FindMyWay.PathInput,
  })),
]

/** The path of a request's target, without its query. */
export const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

/**
 * The paths of senders, links and calendars contain secrets (docs/rules.md#integrations, docs/rules.md#links,
 * docs/rules.md#calendars), and so does any other address with a sender's key.
 */
const WITH_KEY = new RegExp(
  `^(/+(?:in/+(?:${requestKindNames.join("|")})|in|a|on-call)/+|.*?[/=]in_(?=[\\w-]{26})).`,
  "iu",
)

/** The path of a request's target as logs may show it. */
export const shownPath = (url: string): string => {
  const path = pathOf(url)
  const shown = WITH_KEY.exec(path)?.[1]
  return shown === undefined ? path : `${shown}…`
}

/** The router would end a path at these: `DELETE /agents/a;b` must not delete agent a. */
const ROUTER_DELIMITER = /^[^?]*[;#]/

/** The same request with a path that the router takes literally. */
export const withPlainPath = (
  request: HttpServerRequest.HttpServerRequest,
): HttpServerRequest.HttpServerRequest => {
  const { url } = request
  if (!ROUTER_DELIMITER.test(url)) return request
  const path = pathOf(url)
  return request.modify({ url: path.replaceAll(/[;#]/g, encodeURIComponent) + url.slice(path.length) })
}

const UNMATCHED = "unmatched"

export const searchable = (known: ReadonlyArray<KnownRoute>) => {
  const router = FindMyWay.make<string>(routerConfig)
  for (const { method, path } of known) router.on(method, path, path)
  const methods = Array.from(new Set(known.map(({ method }) => method)))
  return {
    /** The methods of a path: none if it does not exist (docs/rules.md#order-of-checks). */
    methodsOf: (url: string) =>
      methods
        .filter((method) => router.find(method, url) !== undefined)
        // A path that answers GET answers HEAD.
        .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])),
    /** The template of the route that a request is for, or would be for by another method. */
    templateOf: (method: string, url: string): string => {
      const own = method === "HEAD" ? "GET" : method
      // Its own method first.
      for (const each of methods.toSorted((a, b) => Number(b === own) - Number(a === own))) {
        const route = router.find(each, url)?.handler
        if (route !== undefined) return route
      }
      return UNMATCHED
    },
  }
}

/** Names the span of a request by its method and its route, if the route is known. */
export const spanNames = (known: ReadonlyArray<KnownRoute>): Layer.Layer<never> => {
  const { templateOf } = searchable(known)
  return Layer.mergeAll(
    Layer.succeed(HttpMiddleware.SpanNameGenerator, (request) => {
      const { method, url } = withPlainPath(request)
      const route = templateOf(method, url)
      return route === UNMATCHED ? method : `${method} ${route}`
    }),
    // The attributes of a span contain the whole path.
    Layer.succeed(HttpMiddleware.TracerDisabledWhen, ({ url }) => WITH_KEY.test(url)),
  )
}
