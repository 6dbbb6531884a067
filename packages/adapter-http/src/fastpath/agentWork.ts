import * as Instant from "@tocsin/contract/formats/Instant"
import { decodeEventBatchRequest } from "@tocsin/contract/v1/decodeRequest"
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
import {
  agentCalls,
  agentNamedIn,
  eventsCall,
  heartbeatCall,
  type Sender,
} from "../handlers/AgentHandlers.ts"
import * as Access from "../request/access.ts"
import { AgentIntake } from "../request/Intake.ts"
import { parseJson } from "../request/RequestBody.ts"
import * as AnswerRecorder from "../response/AnswerRecorder.ts"
import { logFieldsOf } from "../response/FailureLog.ts"
import { type CoreError, type Failure, failureOfCause } from "../response/failures.ts"
import { ACCEPTED, type AgentAnswer, statusOf, type AgentHead } from "./agentMessages.ts"
import type { RepeatedHeartbeat } from "./KnownHeads.ts"

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
    events: eventsCall(ingest),
    /** Both without a fiber, where the storage has that. */
    beat: ingest.beat,
    batch: ingest.batch,
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

/** A request as it asks: a refusal, or a call. */
type Asked =
  | { readonly failure: Failure }
  | {
      /** For the log. */
      readonly body: unknown
      readonly call: () => Effect.Effect<object, CoreError>
      /** The same without a fiber, which would cost a heartbeat as much as the rest, where the storage has that. */
      readonly start?: ((resume: (ended: Effect.Effect<object, CoreError>) => void) => () => void) | undefined
    }

const askedOf = (services: FrontServices, { body, head, heartbeat, sender }: AgentRequest): Asked => {
  const { batch, beat, calls, clock } = services
  const { address, key, process } = sender
  const repeated = head.to === "heartbeat" ? heartbeat.read(body) : undefined
  if (repeated !== undefined)
    return {
      body: repeated,
      call: () => services.heartbeat(sender, repeated),
      start: beat && ((resume) => beat(key, repeated, { address, process, clock }, resume)),
    }
  const parsed = parseJson(body)
  if (Result.isFailure(parsed)) return { failure: { code: "validation", message: parsed.failure } }
  const json = parsed.success
  if (head.to === "heartbeat")
    return {
      body: json,
      call: () => calls.heartbeat(sender, json, (decoded) => heartbeat.learn(body, decoded)),
    }
  const decoded = decodeEventBatchRequest(json)
  if (Result.isFailure(decoded)) return { body: json, call: () => Effect.fail(decoded.failure) }
  const events = decoded.success
  return {
    body: json,
    call: () => services.events(sender, events),
    start: batch && ((resume) => batch(key, events, clock, resume)),
  }
}

/**
 * Does what a request asks for and passes its answer on. The effect ends with the status, and fails only when it is
 * interrupted, without an answer.
 */
const workOf = (work: Work, asked: () => Asked = () => askedOf(work.services, work.request)) =>
  Effect.suspend((): Effect.Effect<number> => {
    const found = asked()
    return "failure" in found ? finishWith(work, found) : answered(work, found.call(), found.body)
  })

/**
 * Starts the work of a request, within its span if there is a tracer. Returns how to withdraw it if it has no fiber.
 * `onEnd` is called once: with a fiber where the work, or the rest of it, takes one.
 */
export const startWork = (
  services: FrontServices,
  request: AgentRequest,
  answer: (answer: AgentAnswer) => boolean,
  onEnd: (rest: Fiber.Fiber<unknown> | undefined) => void,
): (() => void) | undefined => {
  const work: Work = { services, request, answer, startedAt: performance.now() }
  const run = Effect.runForkWith(services.context)
  if (services.isTraced) return void onEnd(run(withinSpan(workOf(work), request)))
  const asked = askedOf(services, request)
  if ("failure" in asked || asked.start === undefined) return void onEnd(run(workOf(work, () => asked)))
  return asked.start((ended) => {
    if (!isSuccess(ended)) return onEnd(run(answered(work, ended, asked.body)))
    const logged = finish(work, { reply: ended.value }, ACCEPTED)
    onEnd(logged === Effect.void ? undefined : run(logged))
  })
}
