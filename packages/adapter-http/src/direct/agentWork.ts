import { type Cause, Effect, Option, Result } from "effect"
import { Headers, HttpMiddleware, HttpServerRequest, HttpServerResponse } from "effect/http"
import { agentNamedIn, type Sender } from "../handlers/agentCalls.ts"
import { parseJson } from "../request/RequestBody.ts"
import { logFieldsOf } from "../response/FailureLog.ts"
import { type CoreError, failureOfCause } from "../response/failures.ts"
import { type AgentAnswer, statusOf } from "./answerText.ts"
import type { FrontServices } from "./FrontServices.ts"
import type { AgentHead } from "./parseHead.ts"

const METHOD = "POST"

/** A whole request of an agent. */
export interface AgentRequest {
  readonly head: AgentHead
  readonly body: Uint8Array
  /** The address that connected. */
  readonly peer: string | undefined
  readonly sender: Sender
  readonly requestId: string
}

/**
 * Runs the work of a request, which ends with its status, within the span that the API would make.
 */
const inSpan = ({ head, peer }: AgentRequest, url: string, work: Effect.Effect<number>) => {
  const request = HttpServerRequest.fromWeb(new Request(`http://localhost${url}`, { method: METHOD })).modify(
    {
      headers: Headers.fromInput(head.headers),
      remoteAddress: Option.fromUndefinedOr(peer),
    },
  )
  return Effect.annotateCurrentSpan("http.route", url).pipe(
    Effect.andThen(work),
    Effect.map((status) => HttpServerResponse.empty({ status })),
    HttpMiddleware.tracer,
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
  )
}

/**
 * Does what a request asks for and passes its answer on. `answer` returns whether the client was
 * still there. The effect fails only when it is interrupted, and then without an answer.
 */
export const agentWork = (
  services: FrontServices,
  request: AgentRequest,
  answer: (answer: AgentAnswer) => boolean,
): Effect.Effect<unknown> => {
  const { calls, isTraced, recorders } = services
  const { head, body, sender, requestId } = request
  const startedAt = performance.now()
  const url = `/api/v1/${head.endpoint}`

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
  const work = Effect.suspend((): Effect.Effect<number> => {
    const parsed = parseJson(body)
    if (Result.isFailure(parsed)) return finish({ failure: { code: "validation", message: parsed.failure } })
    const call: Effect.Effect<object, CoreError> = calls[head.endpoint](sender, parsed.success)
    return Effect.matchCauseEffect(call, {
      onSuccess: (reply) => finish({ reply }),
      onFailure: (cause) => fail(cause, parsed.success),
    })
  })
  return isTraced ? inSpan(request, url, work) : work
}
