import { IncomingMessage } from "node:http"
import * as Instant from "@tocsin/core/contract/Instant"
import { Ids } from "@tocsin/core/ports/Ids"
import { Cause, Clock, Effect, LogLevel, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { allowedMethods, type KnownRoute } from "./allowedMethods.ts"
import { errorResponse, type Failure } from "./errorResponse.ts"
import { lingering, unreadSource } from "./lingering.ts"
import { pathOf, withPlainPath } from "../request/plainPath.ts"
import { Readiness } from "../Readiness.ts"
import { inboundRequestId, RequestId } from "../RequestId.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const notFound = (allowed: ReadonlyArray<string>): Failure => {
  const allow = allowed.join(", ")
  return allow === ""
    ? { code: "not_found", message: "there is nothing at this path; /openapi.json lists the paths there are" }
    : { code: "not_found", message: `this path knows only ${allow}`, headers: { allow } }
}

/** RFC 9112, 3.2: an HTTP/1.1 request has one Host. Node would refuse it without naming the request, or take the first. */
const lacksHost = ({ source }: Request): boolean => {
  if (!(source instanceof IncomingMessage) || source.httpVersion !== "1.1") return false
  const names = source.rawHeaders.filter((_, index) => index % 2 === 0)
  return names.filter((name) => name.toLowerCase() === "host").length !== 1
}

const withoutHost: Failure = {
  code: "validation",
  message: "the header Host must be given once",
  headers: { connection: "close" },
}

const unforeseen: Failure = { code: "internal", message: "the service failed unexpectedly; its log says why" }

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

const isOfUnknownPath = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && isRouteNotFound(reason.error))

const failed = (cause: Cause.Cause<unknown>, requestId: string) =>
  Cause.hasInterruptsOnly(cause)
    ? // Interruptions carry no error.
      Effect.failCause(cause as Cause.Cause<never>)
    : Effect.as(
        Effect.annotateLogs(Effect.logError("a request failed unexpectedly", cause), {
          request_id: requestId,
        }),
        errorResponse(unforeseen, requestId),
      )

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
 * path, 500 without detail for what nobody foresaw, one debug line (decisions §1). `routes`: what there is at paths.
 */
export const layer = (routes: ReadonlyArray<KnownRoute>) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const ids = yield* Ids
      const { isDraining } = yield* Readiness
      const newRequestId = Effect.map(Instant.now, (now) => ids.uuidV7(now))
      const allowed = allowedMethods(routes)

      return Effect.fnUntraced(function* (
        httpEffect: Effect.Effect<Response, Types.unhandled>,
        // Every error is handled here; the router's type wants to hear of those of the routes all the same.
      ): Effect.fn.Return<Response, Types.unhandled, HttpServerRequest.HttpServerRequest> {
        const received = yield* HttpServerRequest.HttpServerRequest
        const request = withPlainPath(received)
        const requestId = inboundRequestId(request.headers["x-request-id"]) ?? (yield* newRequestId)
        const routed =
          request === received
            ? httpEffect
            : Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, request)
        const response = lacksHost(request) ? Effect.succeed(errorResponse(withoutHost, requestId)) : routed
        const answer = response.pipe(
          Effect.catchCause((cause) =>
            isOfUnknownPath(cause)
              ? Effect.succeed(errorResponse(notFound(allowed(request.url)), requestId))
              : failed(cause, requestId),
          ),
          // Known only now: answers to what began before the server is to stop close their connections, too.
          Effect.flatMap((made) =>
            Effect.map(isDraining, (draining) => complete(made, request, requestId, draining)),
          ),
          Effect.provideService(RequestId, requestId),
        )
        return yield* (yield* LogLevel.isEnabled("Debug")) ? logged(answer, request, requestId) : answer
      })
    }),
    { global: true },
  )
