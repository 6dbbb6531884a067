import type { ErrorCode } from "@tocsin/core/contract/ErrorCode"
import * as Instant from "@tocsin/core/contract/Instant"
import type { ErrorResponse } from "@tocsin/core/contract/Responses"
import { Ids } from "@tocsin/core/ports/Ids"
import { Cause, Clock, Effect, LogLevel, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { allowedMethods } from "./allowedMethods.ts"
import { errorStatus } from "./api/ApiErrors.ts"
import { lingering, unreadSource } from "./lingering.ts"
import { Readiness } from "./Readiness.ts"
import { inboundRequestId, RequestId } from "./RequestId.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const errorResponse = (code: ErrorCode, message: string, request_id: string, headers: Record<string, string> = {}) => {
  const body: ErrorResponse = { error: { code, message, request_id } }
  return HttpServerResponse.jsonUnsafe(body, { status: errorStatus[code], headers })
}

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

const notFound = (request: Request, requestId: string): Response => {
  const allowed = allowedMethods(request.url)
  return allowed.length === 0
    ? errorResponse("not_found", "there is nothing at this path; /openapi.json lists the paths there are", requestId)
    : errorResponse("not_found", `this path knows only ${allowed.join(", ")}`, requestId, {
        allow: allowed.join(", "),
      })
}

/** RFC 9112, 3.2: an HTTP/1.1 request without Host is refused. Node would do so without naming the request. */
const lacksHost = ({ source, headers }: Request): boolean =>
  headers["host"] === undefined && "httpVersion" in source && source.httpVersion === "1.1"

const refuseWithoutHost = (requestId: string) =>
  Effect.succeed(errorResponse("validation", "the header Host is missing", requestId, { connection: "close" }))

/** The router would end a path at these: `DELETE /agents/a;b` must not delete agent a. */
const hasRouterDelimiter = (url: string): boolean => /^[^?]*[;#]/.test(url)

const withPlainPath = (request: Request): Request => {
  if (!hasRouterDelimiter(request.url)) return request
  const path = pathOf(request.url)
  return request.modify({ url: path.replaceAll(/[;#]/g, encodeURIComponent) + request.url.slice(path.length) })
}

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

const failed = (cause: Cause.Cause<unknown>, request: Request, requestId: string) => {
  // Interruptions carry no error.
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const isUnknownPath = cause.reasons.some((reason) => Cause.isFailReason(reason) && isRouteNotFound(reason.error))
  if (isUnknownPath) return Effect.succeed(notFound(request, requestId))
  return Effect.as(
    Effect.annotateLogs(Effect.logError("a request failed unexpectedly", cause), { request_id: requestId }),
    errorResponse("internal", "the service failed unexpectedly; its log says why", requestId),
  )
}

const complete = (response: Response, request: Request, requestId: string, isDraining: boolean): Response => {
  const unread = unreadSource(request)
  const answer = unread === undefined ? response : lingering(response, unread)
  return HttpServerResponse.setHeaders(answer, {
    "x-request-id": requestId,
    ...(request.url.startsWith("/api/v1/") && { "cache-control": "no-store" }),
    ...((isDraining || unread !== undefined) && { connection: "close" }),
  })
}

const logged = (effect: Effect.Effect<Response>, request: Request, requestId: string) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeNanos
    const response = yield* effect
    const end = yield* Clock.currentTimeNanos
    yield* Effect.annotateLogs(Effect.logDebug("request"), {
      method: request.method,
      path: pathOf(request.url),
      status: response.status,
      duration_ms: Number(end - start) / 1e6,
      request_id: requestId,
    })
    return response
  })

/**
 * What every response has in common, whatever answers it: its request id, no caching of the API, 404 for what is at no
 * path, 500 without detail for what nobody foresaw, one debug line (decisions §1).
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const ids = yield* Ids
    const { isDraining } = yield* Readiness
    const newRequestId = Effect.map(Instant.now, (now) => ids.uuidV7(now))

    return Effect.fnUntraced(function* (
      httpEffect: Effect.Effect<Response, Types.unhandled>,
      // Every error is handled here; the router's type wants to hear of those of the routes all the same.
    ): Effect.fn.Return<Response, Types.unhandled, HttpServerRequest.HttpServerRequest> {
      const request = withPlainPath(yield* HttpServerRequest.HttpServerRequest)
      const requestId = inboundRequestId(request.headers["x-request-id"]) ?? (yield* newRequestId)
      const answer = (lacksHost(request) ? refuseWithoutHost(requestId) : httpEffect).pipe(
        Effect.catchCause((cause) => failed(cause, request, requestId)),
        // Known only now: answers to what began before the server is to stop close their connections, too.
        Effect.flatMap((response) =>
          Effect.map(isDraining, (draining) => complete(response, request, requestId, draining)),
        ),
        Effect.provideService(RequestId, requestId),
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      )
      return yield* (yield* LogLevel.isEnabled("Debug")) ? logged(answer, request, requestId) : answer
    })
  }),
  { global: true },
)
