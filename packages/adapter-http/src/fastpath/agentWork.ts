import * as Instant from "@tocsin/contract/Instant"
import { Readiness } from "@tocsin/core/health/Readiness"
import { Hashing } from "@tocsin/core/ports/Hashing"
import { Ids } from "@tocsin/core/ports/Ids"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { type Cause, Clock, Context, Effect, Exit, type Fiber, type Option, Result, Tracer } from "effect"
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
import { type CoreError, failureOfCause } from "../response/failures.ts"
import { type AgentAnswer, statusOf, type AgentHead } from "./agentMessages.ts"

/** Gathers the services that a server runs on. */
export const frontServices = Effect.fnUntraced(function* ({ trustedHops = 0, ...tokens }: ApiOptions) {
  const ids = yield* Ids
  const clock = yield* Clock.Clock
  const { isDraining } = yield* Readiness
  const ingest = yield* Ingest
  const tracer = yield* Tracer.Tracer
  const recorder = yield* AnswerRecorder.make
  const now = () => Instant.fromNanos(clock.currentTimeNanosUnsafe())
  return {
    access: Access.make(tokens, yield* Hashing),
    trustedHops,
    calls: agentCalls(ingest),
    bodies: ingest.bodies,
    recorders: {
      heartbeat: recorder.of("/api/v1/heartbeat", "POST"),
      events: recorder.of("/api/v1/events", "POST"),
    },
    intake: yield* AgentIntake,
    isDraining,
    /** Makes the spans of requests, if they are exported. */
    tracer: tracer === Tracer.nativeTracer ? undefined : tracer,
    clock,
    now,
    newRequestId: () => ids.uuidV7(now()),
    context: yield* Effect.context<never>(),
  }
})

/** The services and limits that requests of the front need. */
export type FrontServices = Effect.Success<ReturnType<typeof frontServices>>

const METHOD = "POST"
const FIRST_SERVER_ERROR = 500
const HTTP_PORT = 80
/** The brackets around an IPv6 address. */
const BRACKETS = /^\[|\]$/g

/** A whole request of an agent. */
export interface AgentRequest {
  readonly head: AgentHead
  readonly url: string
  readonly body: Uint8Array
  readonly sender: Sender
  /** The address that connected. */
  readonly peer: string | undefined
  readonly requestId: string
}

/** The shared part of the spans of all requests with the same head. */
interface HeadSpan {
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly attributes: ReadonlyArray<readonly [name: string, value: unknown]>
}

const addressAttributes = ({ origin, hostname, port }: URL, url: string): HeadSpan["attributes"] => [
  ["url.full", `${origin}${url}`],
  ["url.path", url],
  ["url.scheme", "http"],
  ["server.address", hostname.replaceAll(BRACKETS, "")],
  ["server.port", port === "" ? HTTP_PORT : Number(port)],
]

const headSpans = new WeakMap<AgentHead, HeadSpan>()

const makeHeadSpan = (head: AgentHead, url: string): HeadSpan => {
  const { host, "user-agent": userAgent } = head.headers
  const address = URL.parse(`http://${host}`)
  return {
    name: `${METHOD} ${url}`,
    parent: HttpTraceContext.fromHeaders(Headers.fromInput(head.headers)),
    attributes: [
      ["http.request.method", METHOD],
      ["http.route", url],
      ...(address === null ? [] : addressAttributes(address, url)),
      ...(userAgent === undefined ? [] : [["user_agent.original", userAgent] as const]),
    ],
  }
}

const headSpanOf = ({ head, url }: AgentRequest): HeadSpan => {
  const known = headSpans.get(head)
  if (known !== undefined) return known
  const made = makeHeadSpan(head, url)
  headSpans.set(head, made)
  return made
}

/** Begins the span of a request, in the caller's trace if its head names one. */
const beginSpan = (tracer: Tracer.Tracer, request: AgentRequest, clock: Clock.Clock): Tracer.Span => {
  const { name, parent } = headSpanOf(request)
  return tracer.span({
    name,
    parent,
    annotations: Context.empty(),
    links: [],
    startTime: clock.currentTimeNanosUnsafe(),
    kind: "server",
    root: false,
    sampled: true,
  })
}

/** As the API makes it: without a stack, which would cost more than the request. */
const errorOf = (url: string, status: number) => {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const error = new HttpServerError.HttpServerError({
    reason: new HttpServerError.ResponseError({
      request: HttpServerRequest.fromWeb(new Request(`http://localhost${url}`, { method: METHOD })),
      response: HttpServerResponse.empty({ status }),
    }),
  })
  Error.stackTraceLimit = stackTraceLimit
  return error
}

/**
 * Ends a span with the attributes that `HttpMiddleware.tracer` gives to the spans of the API. One that
 * was interrupted has no status here: nothing was answered.
 */
const endSpan = (
  span: Tracer.Span,
  request: AgentRequest,
  exit: Exit.Exit<number>,
  clock: Clock.Clock,
): void => {
  const { url, peer, requestId } = request
  for (const [name, value] of headSpanOf(request).attributes) span.attribute(name, value)
  if (peer !== undefined) span.attribute("client.address", peer)
  span.attribute("tocsin.request_id", requestId)
  if (Exit.isSuccess(exit)) span.attribute("http.response.status_code", exit.value)
  const isFailed = Exit.isSuccess(exit) && exit.value >= FIRST_SERVER_ERROR
  span.end(clock.currentTimeNanosUnsafe(), isFailed ? Exit.fail(errorOf(url, exit.value)) : exit)
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
  const { calls, recorders } = services
  const { head, url, body, sender, requestId } = request
  const startedAt = performance.now()

  const finish = (made: AgentAnswer): Effect.Effect<number> => {
    const status = statusOf(made)
    if (!answer(made)) return Effect.succeed(status)
    const millis = performance.now() - startedAt
    return Effect.as(
      recorders[head.endpoint].record({ method: METHOD, url, status, millis, requestId }),
      status,
    )
  }
  const fail = (cause: Cause.Cause<CoreError>, parsed: unknown): Effect.Effect<number> =>
    Effect.flatMap(
      Effect.annotateLogs(failureOfCause(cause), {
        ...logFieldsOf({ requestId, method: METHOD, url, client: sender.address }),
        ...agentNamedIn(parsed),
      }),
      (failure) => finish({ failure }),
    )
  return Effect.suspend((): Effect.Effect<number> => {
    const parsed = parseJson(body)
    if (Result.isFailure(parsed)) return finish({ failure: { code: "validation", message: parsed.failure } })
    const call: Effect.Effect<object, CoreError> = calls[head.endpoint](sender, parsed.success)
    return Effect.matchCauseEffect(call, {
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
  const { clock, context, tracer } = services
  const work = workOf(services, request, answer)
  if (tracer === undefined) return Effect.runForkWith(context)(work)
  const span = beginSpan(tracer, request, clock)
  const traced = span.sampled
    ? Effect.onExit(work, (exit) => Effect.sync(() => endSpan(span, request, exit, clock)))
    : work
  return Effect.runForkWith(Context.add(context, Tracer.ParentSpan, span))(traced)
}
