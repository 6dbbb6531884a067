import * as Instant from "@tocsin/contract/formats/Instant"
import { isSuccess } from "@tocsin/core/kernel/engine/commits/Commits"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Clock, Effect, type Fiber, Option, Result, Tracer } from "effect"
import {
  Headers,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse,
  HttpTraceContext,
} from "effect/http"
import type { ApiOptions } from "../ApiRoutes.ts"
import { agentCalls, agentNamedIn, heartbeatCall, type Sender } from "../handlers/agentCalls.ts"
import * as Access from "../request/access.ts"
import { AgentIntake } from "../request/Intake.ts"
import { parseJson } from "../request/RequestBody.ts"
import * as AnswerRecorder from "../response/AnswerRecorder.ts"
import { logFieldsOf } from "../response/FailureLog.ts"
import { type CoreError, failureOfCause } from "../response/failures.ts"
import { ACCEPTED, type AgentAnswer, statusOf, type AgentHead } from "./agentMessages.ts"
import type { RepeatedHeartbeat } from "./RepeatedHeartbeat.ts"

export const frontServices = Effect.fnUntraced(function* (options: ApiOptions) {
  const { trustedHops = 0, ...tokens } = options
  const ids = yield* Ids
  const clock = yield* Clock.Clock
  const { isDraining } = yield* Readiness
  const ingest = yield* Ingest
  const recorder = yield* AnswerRecorder.make
  /** Whether spans are exported. */
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
  const now = () => Instant.fromNanos(clock.currentTimeNanosUnsafe())
  return {
    access: Access.make(tokens, yield* Hashing),
    trustedHops,
    calls: agentCalls(ingest),
    heartbeat: heartbeatCall(ingest),
    /** The same without a fiber, where the storage has that and no span is exported. */
    beat: isTraced ? undefined : ingest.beat,
    bodies: ingest.bodies,
    recorderOf: ({ method, url }: AgentHead) => recorder.of(url, method),
    intake: yield* AgentIntake,
    isDraining,
    isTraced,
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
  /** The last heartbeat with that head. */
  readonly heartbeat: RepeatedHeartbeat
  readonly body: Buffer
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

/** A request under way. */
interface Work {
  readonly services: FrontServices
  readonly request: AgentRequest
  /** Passes an answer on, and returns whether the client was still there. */
  readonly answer: (answer: AgentAnswer) => boolean
  readonly startedAt: number
}

const finish = (
  { answer, request, services, startedAt }: Work,
  made: AgentAnswer,
  status: number,
): Effect.Effect<void> => {
  if (!answer(made)) return Effect.void
  const { head, requestId } = request
  const { method, url } = head
  const millis = performance.now() - startedAt
  return services.recorderOf(head).record({ method, url, status, millis, requestId })
}

const finishWith = (work: Work, made: AgentAnswer): Effect.Effect<number> => {
  const status = statusOf(made)
  return Effect.as(finish(work, made, status), status)
}

/** The end of a call: its answer, and the status of that. */
const answered = (
  work: Work,
  called: Effect.Effect<object, CoreError>,
  body: unknown,
): Effect.Effect<number> =>
  Effect.matchCauseEffect(called, {
    onSuccess: (reply) => finishWith(work, { reply }),
    onFailure: (cause) => {
      const { head, requestId, sender } = work.request
      const { method, url } = head
      const failed = Effect.annotateLogs(failureOfCause(cause), {
        ...logFieldsOf({ requestId, method, url, client: sender.address }),
        ...agentNamedIn(body),
      })
      return Effect.flatMap(failed, (failure) => finishWith(work, { failure }))
    },
  })

/**
 * Does what a request asks for and passes its answer on. The effect ends with the status, and fails only when it is
 * interrupted, without an answer.
 */
const workOf = (work: Work): Effect.Effect<number> =>
  Effect.suspend((): Effect.Effect<number> => {
    const { request, services } = work
    const { body, head, heartbeat, sender } = request
    const repeated = head.to === "heartbeat" ? heartbeat.read(body) : undefined
    if (repeated !== undefined) return answered(work, services.heartbeat(sender, repeated), repeated)
    const parsed = parseJson(body)
    if (Result.isFailure(parsed))
      return finishWith(work, { failure: { code: "validation", message: parsed.failure } })
    const json = parsed.success
    const called: Effect.Effect<object, CoreError> =
      head.to === "events"
        ? services.calls.events(sender, json)
        : services.calls.heartbeat(sender, json, (decoded) => heartbeat.learn(body, decoded))
    return answered(work, called, json)
  })

/** Starts the work of a request, within its span if there is a tracer. */
export const startWork = (
  services: FrontServices,
  request: AgentRequest,
  answer: (answer: AgentAnswer) => boolean,
): Fiber.Fiber<unknown> => {
  const { context, isTraced } = services
  const work = workOf({ services, request, answer, startedAt: performance.now() })
  return Effect.runForkWith(context)(isTraced ? withinSpan(work, request) : work)
}

/**
 * Does the work of a heartbeat that repeats the last one without a fiber, which would cost as much as the rest. Returns
 * how to withdraw it, or nothing for any other request. `onEnd` is called once: with a fiber where the rest takes one.
 */
export const startBeat = (
  services: FrontServices,
  request: AgentRequest,
  answer: (answer: AgentAnswer) => boolean,
  onEnd: (rest: Fiber.Fiber<unknown> | undefined) => void,
): (() => void) | undefined => {
  const { beat, clock, context } = services
  const { body, head, heartbeat, sender } = request
  const repeated = beat && head.to === "heartbeat" ? heartbeat.read(body) : undefined
  if (beat === undefined || repeated === undefined) return undefined
  const work: Work = { services, request, answer, startedAt: performance.now() }
  const { address, key, process } = sender
  return beat(key, repeated, { address, process, clock }, (ended) => {
    const run = Effect.runForkWith(context)
    if (!isSuccess(ended)) return onEnd(run(answered(work, ended, repeated)))
    const logged = finish(work, { reply: ended.value }, ACCEPTED)
    onEnd(logged === Effect.void ? undefined : run(logged))
  })
}
