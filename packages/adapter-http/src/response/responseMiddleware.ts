import * as Instant from "@tocsin/contract/formats/Instant"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Cause, Clock, Duration, Effect, Stream, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { MAX_BODY_BYTES } from "../request/RequestBody.ts"
import {
  allFields,
  type AllowedOrigins,
  crossOrigin,
  httpDate,
  inboundRequestId,
  RequestId,
} from "./headerFields.ts"
import { requestAddress } from "../request/clientAddress.ts"
import { isPublicFile } from "../features/publicPages/PublicPageRoutes.ts"
import { type KnownRoute, searchable, withPlainPath } from "../routes.ts"
import { responseOf, unroutedAnswer } from "../features/integrations/dialects.ts"
import * as AnswerRecorder from "./AnswerRecorder.ts"
import { FailureLog, logFieldsOf } from "./FailureLog.ts"
import { errorResponse, type Failure, failureOfDefect } from "./failures.ts"

const LINGER = Duration.seconds(1)

/** Node reads and drops this much of an unread body by itself, and keeps the connection. */
const DRAINED_BYTES = 256 * 1024

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/**
 * The message of a request whose answer comes so early that too much of its body is left to keep
 * the connection. `undefined` also if the connection belongs to a host server.
 */
const unreadSource = ({ source, headers }: Request): IncomingMessage | undefined =>
  source instanceof IncomingMessage &&
  !source.complete &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > DRAINED_BYTES)
    ? source
    : undefined

const dropRest = (source: IncomingMessage) =>
  Effect.callback<void>((resume) => {
    const stop = () => resume(Effect.void)
    let dropped = 0
    const onData = (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > MAX_BODY_BYTES) stop()
    }
    source.on("data", onData)
    source.on("end", stop)
    source.on("close", stop)
    source.resume()
    return Effect.sync(() => source.off("data", onData))
  }).pipe(Effect.timeoutOption(LINGER))

/**
 * An answer before the end of the request's body. It is sent immediately; then up to 1 MiB or 1 s
 * more of the body is read and dropped before the connection closes. Closing it on a client that is
 * still sending would reset it, and the client would not see the answer (docs/rules.md#bodies).
 */
const lingeringClose = (response: Response, source: IncomingMessage): Response => {
  const { body } = response
  if (body._tag !== "Uint8Array") return response
  return HttpServerResponse.stream(
    Stream.concat(Stream.succeed(body.body), Stream.drain(Stream.fromEffect(dropRest(source)))),
    {
      status: response.status,
      headers: response.headers,
      contentType: body.contentType,
      contentLength: body.contentLength,
    },
  )
}

const notFound = (allowed: ReadonlyArray<string>): Failure => {
  const allow = allowed.join(", ")
  return allow === ""
    ? { code: "not_found", message: "this path does not exist; see /openapi.json for all paths" }
    : { code: "not_found", message: `this method is not allowed here; use ${allow}`, headers: { allow } }
}

/** The answer to a request that no route has: to a sender, as its protocol says it. */
const unrouted = (url: string, failure: Failure, requestId: string): Response => {
  const said = unroutedAnswer(url, failure)
  return said === undefined ? errorResponse(failure, requestId) : responseOf(said)
}

/** Whether a request lacks the one host that HTTP/1.1 demands (RFC 9112, 3.2). Node would refuse it without its id. */
const lacksHost = ({ source }: Request): boolean => {
  if (!(source instanceof IncomingMessage) || source.httpVersion !== "1.1") return false
  const names = source.rawHeaders.filter((_, index) => index % 2 === 0)
  return names.filter((name) => name.toLowerCase() === "host").length !== 1
}

const withoutHost: Failure = {
  code: "validation",
  message: "send exactly one Host header",
  headers: { connection: "close" },
}

const isOfUnknownPath = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons
    .flatMap((reason) => (Cause.isFailReason(reason) ? [reason.error] : []))
    .some((error) => HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound")

interface Completion {
  readonly request: Request
  readonly requestId: string
  readonly isDraining: boolean
  readonly millis: number
  readonly fields: ReturnType<typeof crossOrigin>["fields"]
}

const complete = (
  response: Response,
  { request, requestId, isDraining, millis, fields }: Completion,
): Response => {
  const unread = unreadSource(request)
  const answer = unread === undefined ? response : lingeringClose(response, unread)
  return HttpServerResponse.setHeaders(
    answer,
    allFields(answer.headers, {
      requestId,
      isFinal: isDraining || unread !== undefined,
      method: request.method,
      more: { ...fields(request), date: httpDate(millis) },
    }),
  )
}

const UNTRUSTED_FORWARD =
  "a request has X-Forwarded-For, which is ignored: if a proxy stands before the server, set SERVICE_TRUST_PROXY to the number of proxies, so that limits count its clients"

interface ResponseOptions {
  readonly routes: ReadonlyArray<KnownRoute>
  /** None unless given. */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /** How many proxies add to X-Forwarded-For; none unless given. */
  readonly trustedHops?: number | undefined
}

/**
 * The rules for every response of the API (docs/rules.md#bodies): its header fields, CORS, 404 for
 * an unknown path, 500 without detail for a defect, one count and one debug line.
 */
export const layer = ({ routes, allowedOrigins, trustedHops = 0 }: ResponseOptions) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const failureLog = yield* FailureLog
      const recorder = yield* AnswerRecorder.make
      const addressOf = requestAddress(trustedHops)
      const ids = yield* Ids
      const { isDraining } = yield* Readiness
      const newRequestId = Effect.map(Instant.now, (now) => ids.uuidV7(now))
      const clock = yield* Clock.Clock
      const { methodsOf, templateOf } = searchable(routes)
      const { preflight, fields } = crossOrigin(allowedOrigins)
      let isForwardSaid = trustedHops > 0
      /** Once: a proxy that the settings do not know makes one client of all of its clients. */
      const sayForwarded = ({ headers }: Request) => {
        if (isForwardSaid || headers["x-forwarded-for"] === undefined) return Effect.void
        isForwardSaid = true
        return Effect.logWarning(UNTRUSTED_FORWARD)
      }

      return Effect.fnUntraced(function* (
        httpEffect: Effect.Effect<Response, Types.unhandled>,
        // Every error is handled here, but the router's type asks for those of the routes.
      ): Effect.fn.Return<Response, Types.unhandled, HttpServerRequest.HttpServerRequest> {
        const startedAt = performance.now()
        const received = yield* HttpServerRequest.HttpServerRequest
        const request = withPlainPath(received)
        const { method, url } = request
        yield* sayForwarded(request)
        const requestId = inboundRequestId(request.headers["x-request-id"]) ?? (yield* newRequestId)
        const routed =
          request === received
            ? httpEffect
            : Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, request)
        const own = lacksHost(request)
          ? errorResponse(withoutHost, requestId)
          : method === "OPTIONS"
            ? preflight(request, methodsOf(url), isPublicFile(url))
            : undefined
        const answer = yield* (own === undefined ? routed : Effect.succeed(own)).pipe(
          Effect.catchCause((cause) =>
            isOfUnknownPath(cause)
              ? Effect.succeed(unrouted(url, notFound(methodsOf(url)), requestId))
              : Effect.map(failureOfDefect(cause), (failure) => errorResponse(failure, requestId)),
          ),
          // Asked only now, so that requests under way at a shutdown close their connections, too.
          Effect.map((made) => {
            const millis = clock.currentTimeMillisUnsafe()
            return complete(made, { request, requestId, isDraining: isDraining(), millis, fields })
          }),
          Effect.provideService(RequestId, requestId),
          Effect.provideService(FailureLog, failureLog),
          Effect.annotateLogs(logFieldsOf({ requestId, method, url, client: addressOf(request) })),
        )
        const millis = performance.now() - startedAt
        yield* recorder
          .of(templateOf(method, url), method)
          .record({ method, url, status: answer.status, millis, requestId })
        yield* Effect.annotateCurrentSpan("tocsin.request_id", requestId)
        return answer
      })
    }),
    { global: true },
  )
