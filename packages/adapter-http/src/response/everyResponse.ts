import { IncomingMessage } from "node:http"
import * as Instant from "@tocsin/core/contract/Instant"
import { Ids } from "@tocsin/core/ports/Ids"
import { Cause, Clock, Effect, LogLevel, References, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { allowedMethods, type KnownRoute } from "./allowedMethods.ts"
import { type CrossOrigin, crossOrigin } from "./crossOrigin.ts"
import { errorResponse, type Failure } from "./errorResponse.ts"
import { fieldsOfEvery } from "./fieldsOfEvery.ts"
import { fieldsOfShown } from "./fieldsOfShown.ts"
import { lingering, unreadSource } from "./lingering.ts"
import { logRequest } from "./logRequest.ts"
import { FailureLog } from "./FailureLog.ts"
import { unforeseen } from "./unforeseen.ts"
import type { AllowedOrigins } from "../request/AllowedOrigins.ts"
import { requestAddress } from "../request/clientAddress.ts"
import { hasOneHost } from "../request/hasOneHost.ts"
import { pathOf, withPlainPath } from "../request/plainPath.ts"
import { Readiness } from "../Readiness.ts"
import { inboundRequestId, RequestId } from "../RequestId.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const notFound = (allowed: ReadonlyArray<string>): Failure => {
  const allow = allowed.join(", ")
  return allow === ""
    ? { code: "not_found", message: "this path does not exist; see /openapi.json for all paths" }
    : { code: "not_found", message: `this method is not allowed here; use ${allow}`, headers: { allow } }
}

const lacksHost = ({ source }: Request): boolean => source instanceof IncomingMessage && !hasOneHost(source)

const withoutHost: Failure = {
  code: "validation",
  message: "send exactly one Host header",
  headers: { connection: "close" },
}

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

const isOfUnknownPath = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && isRouteNotFound(reason.error))

const failed = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  // Interruptions carry no error.
  if (Cause.hasInterruptsOnly(cause)) return yield* Effect.failCause(cause as Cause.Cause<never>)
  yield* (yield* FailureLog).defect(cause, yield* References.CurrentLogAnnotations)
  return errorResponse(unforeseen, yield* RequestId)
})

interface Completion {
  readonly request: Request
  readonly requestId: string
  readonly isDraining: boolean
  readonly fields: CrossOrigin["fields"]
}

const complete = (response: Response, { request, requestId, isDraining, fields }: Completion): Response => {
  const unread = unreadSource(request)
  const answer = unread === undefined ? response : lingering(response, unread)
  const given: Readonly<Record<string, string>> = {
    ...fieldsOfShown(request.method),
    ...fieldsOfEvery({ requestId, isFinal: isDraining || unread !== undefined }),
    ...fields(request),
  }
  const vary = [answer.headers["vary"], given["vary"]].filter((field) => field !== undefined)
  return HttpServerResponse.setHeaders(answer, {
    ...given,
    // What an answer says for itself counts: a page has a policy of its own.
    ...answer.headers,
    ...(vary.length > 0 && { vary: vary.join(", ") }),
  })
}

const logged = (effect: Effect.Effect<Response>, request: Request, requestId: string) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeNanos
    const response = yield* effect
    const end = yield* Clock.currentTimeNanos
    const { method, url } = request
    yield* logRequest({ method, url, status: response.status, nanos: end - start, requestId })
    return response
  })

/** What answers depend on besides their request. */
export interface EveryResponseOptions {
  /** What there is at paths. */
  readonly routes: ReadonlyArray<KnownRoute>
  /** None unless given. */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /** How many proxies add to X-Forwarded-For; none unless given. */
  readonly trustedHops?: number | undefined
}

/**
 * What every response has in common, whatever answers it: its request id, no caching unless it says otherwise, what protects a
 * browser, what lets pages of allowed origins read it, 404 for what is at no path, 500 without detail for what nobody foresaw,
 * one debug line (docs/rules.md#bodies).
 */
export const layer = ({ routes, allowedOrigins, trustedHops = 0 }: EveryResponseOptions) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const failureLog = yield* FailureLog
      const addressOf = requestAddress(trustedHops)
      const ids = yield* Ids
      const { isDraining } = yield* Readiness
      const newRequestId = Effect.map(Instant.now, (now) => ids.uuidV7(now))
      const allowed = allowedMethods(routes)
      const { preflight, fields } = crossOrigin(allowedOrigins)

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
        const own = lacksHost(request)
          ? errorResponse(withoutHost, requestId)
          : request.method === "OPTIONS"
            ? preflight(request, allowed(request.url))
            : undefined
        const response = own === undefined ? routed : Effect.succeed(own)
        const answer = response.pipe(
          Effect.catchCause((cause) =>
            isOfUnknownPath(cause)
              ? Effect.succeed(errorResponse(notFound(allowed(request.url)), requestId))
              : failed(cause),
          ),
          // Known only now: answers to what began before the server is to stop close their connections, too.
          Effect.map((made) => complete(made, { request, requestId, isDraining: isDraining(), fields })),
          Effect.provideService(RequestId, requestId),
          Effect.provideService(FailureLog, failureLog),
          Effect.annotateLogs({
            request_id: requestId,
            method: request.method,
            path: pathOf(request.url),
            client: addressOf(request),
          }),
        )
        return yield* (yield* LogLevel.isEnabled("Debug")) ? logged(answer, request, requestId) : answer
      })
    }),
    { global: true },
  )
