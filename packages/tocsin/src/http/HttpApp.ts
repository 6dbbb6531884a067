import * as ApiRoutes from "@tocsin/adapter-http/ApiRoutes"
import type { ConsoleFiles, About } from "@tocsin/adapter-http/pages/PageRoutes"
import * as Intake from "@tocsin/adapter-http/request/Intake"
import * as FailureLog from "@tocsin/adapter-http/response/FailureLog"
import { pathOf, routerConfig } from "@tocsin/adapter-http/routes"
import { IncomingMessage, type ServerResponse } from "node:http"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"
import { isReset } from "@tocsin/adapter-http/request/clientAddress"
import { fieldsOfEvery } from "@tocsin/adapter-http/response/headerFields"
import { statusFileOf } from "@tocsin/adapter-http/features/publicPages/PublicPageRoutes"
import { pipelining } from "@tocsin/adapter-http/response/pipelining"
import { type ErrorCode, errorStatus } from "@tocsin/contract/formats/Errors"
import { requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { randomUUID } from "node:crypto"
import { Socket } from "node:net"
import type { Activity } from "../api/Calls.ts"

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

interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
  /** The path that Express has taken off `url`. */
  readonly baseUrl?: string
}

const bytesOf = (body: unknown): string | Uint8Array => {
  if (typeof body === "string" || body instanceof Uint8Array) return body
  try {
    return JSON.stringify(body)
  } catch {
    // Nested so deep that it was parsed but cannot be written again: no JSON that any schema takes.
    return ""
  }
}

/** The same request, whose body a parser has read, with that body to be read again. */
const replayedRequest = (request: ParsedRequest): IncomingMessage => {
  // A socket with the client's address alone: readers of the copy must not act on the real one.
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: request.socket.remoteAddress })
  const copy = new IncomingMessage(socket)
  copy.method = request.method
  copy.url = request.url
  copy.httpVersion = request.httpVersion
  copy.httpVersionMajor = request.httpVersionMajor
  copy.httpVersionMinor = request.httpVersionMinor
  copy.rawHeaders = request.rawHeaders
  copy.headers = { ...request.headers }
  const bytes = Buffer.from(bytesOf(request.body))
  // Parsed bodies may be longer or shorter than the received ones.
  copy.headers["content-length"] = String(bytes.length)
  delete copy.headers["transfer-encoding"]
  copy.complete = true
  copy.push(bytes)
  copy.push(null)
  return copy
}

/** An answer to a request that never reaches the API, in the API's form. */
interface HostError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const hostError = (code: ErrorCode, message: string): HostError => {
  const request_id = randomUUID()
  return {
    status: errorStatus[code],
    headers: {
      "content-type": "application/json",
      ...fieldsOfEvery({ requestId: request_id, isFinal: false }),
    },
    body: JSON.stringify({ error: { code, message, request_id } }),
  }
}

const closedAnswer = (): HostError => hostError("not_ready", "the service has stopped")

const bodyIsGone = (): HostError =>
  hostError(
    "internal",
    "the request's body was read before it reached Tocsin, and nothing of it was left: mount Tocsin before what parses bodies",
  )

const toResponse = ({ status, headers, body }: HostError): Response => new Response(body, { status, headers })

interface FetchHandlerOptions {
  readonly web: (request: Request) => Promise<Response>
  readonly isClosed: () => boolean
  readonly activity: Activity
}

/** The API as a web-standard handler. Takes one argument whatever else a framework passes. */
export const fetchHandler =
  ({ web, isClosed, activity }: FetchHandlerOptions) =>
  async (request: Request): Promise<Response> => {
    if (isClosed()) return toResponse(closedAnswer())
    if (request.bodyUsed) return toResponse(bodyIsGone())
    const end = activity.begin()
    try {
      return await web(request)
    } finally {
      end()
    }
  }

/** A listener for node:http and a handler for Express, whose `next` gets the paths of others. */
export type NodeListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

interface NodeListenerOptions {
  readonly node: (request: IncomingMessage, response: ServerResponse) => void
  readonly basePath: string
  readonly hasMetrics: boolean
  readonly hasConsole: boolean
  /** Whether the policy has this public page. */
  readonly hasPage: (name: string) => boolean
  readonly isClosed: () => boolean
  readonly activity: Activity
}

const METRICS = /^\/metrics(?:\?|$)/
const OURS = new RegExp(
  `^/(?:api/v1|ops/v1)/|^/(?:docs|in/(?:${requestKindNames.join("|")}))(?:[/?]|$)|^/(?:openapi\\.json|a/[0-9a-f]{96})(?:\\?|$)`,
)

const CONSOLE = /^\/(?:\?|$)|^\/console\/app\.(?:js|css)(?:\?|$)/

/** The part of a path and its query below a base path, from its slash on; absent if it is not below. */
const belowBasePath = (basePath: string, path: string): string | undefined => {
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : "elsewhere"
  if (below === "" || below.startsWith("?")) return `/${below}`
  return below.startsWith("/") ? below : undefined
}

/** The path below the base path, with its query; empty for one that is not below it. */
const pathBelow = (basePath: string, { url = "", baseUrl = "" }: ParsedRequest): string =>
  // Express has taken it off where the monitor is mounted there.
  belowBasePath(basePath, url) ?? (baseUrl.endsWith(basePath) ? url : "")

const answer = (response: ServerResponse, { status, headers, body }: HostError): void => {
  response.writeHead(status, headers).end(body)
}

/** The API as a listener. A body that `express.json()` has read is taken from `request.body`. */
export const nodeListener =
  ({
    node,
    basePath,
    hasMetrics,
    hasConsole,
    hasPage,
    isClosed,
    activity,
  }: NodeListenerOptions): NodeListener =>
  (request: ParsedRequest, response, next) => {
    const path = pathBelow(basePath, request)
    const page = statusFileOf(pathOf(path))
    const isOurs =
      OURS.test(path) ||
      (hasMetrics && METRICS.test(path)) ||
      (hasConsole && CONSOLE.test(path)) ||
      (page !== undefined && hasPage(page.name))
    if (typeof next === "function" && !isOurs) return next()
    // An answer would not arrive, and requests without an address have no limits.
    if (isReset(request.socket)) return void request.socket.destroy()
    pipelining(request.socket, response, () => {
      if (isClosed()) return answer(response, closedAnswer())
      response.once("close", activity.begin())
      if (!request.readableDidRead) return node(request, response)
      if (request.body === undefined) return answer(response, bodyIsGone())
      node(replayedRequest(request), response)
    })
  }
