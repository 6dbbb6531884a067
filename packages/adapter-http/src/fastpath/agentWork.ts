import * as Instant from "@tocsin/contract/Instant"
import { Readiness } from "@tocsin/core/health/Readiness"
import { Hashing } from "@tocsin/core/ports/Hashing"
import { Ids } from "@tocsin/core/ports/Ids"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { type Cause, Clock, Effect, type Fiber, Option, Result, Tracer } from "effect"
import {
  Headers,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse,
  HttpTraceContext,
} from "effect/http"
import type { ApiOptions } from "../ApiRoutes.ts"
import { agentCalls, agentNamedIn, type Sender } from "../handlers/agentCalls.ts"
import * as Access from "../request/access.ts"
import { AgentIntake } from "../request/Intake.ts"
import { parseJson } from "../request/RequestBody.ts"
import * as AnswerRecorder from "../response/AnswerRecorder.ts"
import { logFieldsOf } from "../response/FailureLog.ts"
import { type CoreError, type Failure, failureOfCause } from "../response/failures.ts"
import { type AgentAnswer, statusOf, type AgentHead } from "./agentMessages.ts"
import { pageServices } from "./pageWork.ts"

export const frontServices = Effect.fnUntraced(function* (options: ApiOptions) {
  const { trustedHops = 0, ...tokens } = options
  const ids = yield* Ids
  const clock = yield* Clock.Clock
  const { isDraining } = yield* Readiness
  const ingest = yield* Ingest
  const recorder = yield* AnswerRecorder.make
  const now = () => Instant.fromNanos(clock.currentTimeNanosUnsafe())
  return {
    access: Access.make(tokens, yield* Hashing),
    trustedHops,
    calls: agentCalls(ingest),
    bodies: ingest.bodies,
    recorderOf: ({ method, url }: AgentHead) => recorder.of(url, method),
    intake: yield* AgentIntake,
    /** None without public pages. */
    pages: yield* pageServices(options),
    isDraining,
    /** Whether spans are exported. */
    isTraced: (yield* Tracer.Tracer) !== Tracer.nativeTracer,
    clock,
    now,
    newRequestId: () => ids.uuidV7(now()),
    context: yield* Effect.context<never>(),
  }
})

export type FrontServices = Effect.Success<ReturnType<typeof frontServices>>

const FIRST_SERVER_ERROR = 500
const HTTP_PORT = 80
const BRACKETS = /^\[|\]$/g

export interface AgentRequest {
  readonly head: AgentHead
  readonly body: Uint8Array
  readonly sender: Sender
  /** The address that connected. */
  readonly peer: string | undefined
  readonly requestId: string
}

/** The shared part of the spans of all requests with the same head. */
type HeadSpan = ReturnType<typeof makeHeadSpan>

const headSpans = new WeakMap<AgentHead, HeadSpan>()

const addressAttributes = ({ origin, hostname, port }: URL, url: string) => ({
  "url.full": `${origin}${url}`,
  "url.path": url,
  "url.scheme": "http",
  "server.address": hostname.replaceAll(BRACKETS, ""),
  "server.port": port === "" ? HTTP_PORT : Number(port),
})

const makeHeadSpan = (head: AgentHead) => {
  const { method, url } = head
  const { host, "user-agent": userAgent } = head.headers
  const address = URL.parse(`http://${host}`)
  return {
    name: `${method} ${url}`,
    // In the caller's trace if the head names one.
    parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(Headers.fromInput(head.headers))),
    attributes: {
      "http.request.method": method,
      "http.route": url,
      ...(address !== null && addressAttributes(address, url)),
      ...(userAgent !== undefined && { "user_agent.original": userAgent }),
    },
  }
}

const headSpanOf = ({ head }: AgentRequest): HeadSpan => {
  const known = headSpans.get(head)
  if (known !== undefined) return known
  const made = makeHeadSpan(head)
  headSpans.set(head, made)
  return made
}

/** As the API makes it: without a stack, which would cost more than the request. */
const errorOf = ({ method, url }: AgentHead, status: number) => {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const error = new HttpServerError.HttpServerError({
    reason: new HttpServerError.ResponseError({
      request: HttpServerRequest.fromWeb(new Request(`http://localhost${url}`, { method })),
      response: HttpServerResponse.empty({ status }),
    }),
  })
  Error.stackTraceLimit = stackTraceLimit
  return error
}

/**
 * Does the work of a request within a span, with the attributes that `HttpMiddleware.tracer` gives to
 * the spans of the API.
 */
const withinSpan = (work: Effect.Effect<number>, request: AgentRequest): Effect.Effect<void> => {
  const { attributes, name, parent } = headSpanOf(request)
  const { head, peer, requestId } = request
  const own = { ...(peer !== undefined && { "client.address": peer }), "tocsin.request_id": requestId }
  return work.pipe(
    Effect.tap((status) => Effect.annotateCurrentSpan("http.response.status_code", status)),
    Effect.flatMap((status) =>
      status < FIRST_SERVER_ERROR ? Effect.void : Effect.fail(errorOf(head, status)),
    ),
    Effect.withSpan(
      name,
      { kind: "server", parent, attributes: { ...attributes, ...own } },
      { captureStackTrace: false },
    ),
    Effect.ignore,
  )
}

/**
 * Does what a request asks for and passes its answer on. `answer` returns whether the client was
 * still there. The effect ends with the status, and fails only when it is interrupted, without an
 * answer.
 */
const workOf = (
  services: FrontServices,
  request: AgentRequest,
  answer: (answer: AgentAnswer) => boolean,
): Effect.Effect<number> => {
  const { head, sender, requestId } = request
  const { method, url } = head
  const startedAt = performance.now()

  const finish = (made: AgentAnswer): Effect.Effect<number> => {
    const status = statusOf(made)
    if (!answer(made)) return Effect.succeed(status)
    const millis = performance.now() - startedAt
    return Effect.as(services.recorderOf(head).record({ method, url, status, millis, requestId }), status)
  }
  const finishWith = (failure: Failure) => finish({ failure })
  const fail = (cause: Cause.Cause<CoreError>, body: unknown): Effect.Effect<number> =>
    Effect.flatMap(
      Effect.annotateLogs(failureOfCause(cause), {
        ...logFieldsOf({ requestId, method, url, client: sender.address }),
        ...agentNamedIn(body),
      }),
      finishWith,
    )
  return Effect.suspend((): Effect.Effect<number> => {
    const parsed = parseJson(request.body)
    if (Result.isFailure(parsed)) return finishWith({ code: "validation", message: parsed.failure })
    const called: Effect.Effect<object, CoreError> = services.calls[head.to](sender, parsed.success)
    return Effect.matchCauseEffect(called, {
      onSuccess: (reply) => finish({ reply }),
      onFailure: (cause) => fail(cause, parsed.success),
    })
  })
}

/** Starts the work of a request, within its span if there is a tracer. */
export const startWork = (
  services: FrontServices,
  request: AgentRequest,
  answer: (answer: AgentAnswer) => boolean,
): Fiber.Fiber<unknown> => {
  const { context, isTraced } = services
  const work = workOf(services, request, answer)
  return Effect.runForkWith(context)(isTraced ? withinSpan(work, request) : work)
}
