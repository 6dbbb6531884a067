import { type Cause, Context, Effect, type Fiber, Result, Tracer } from "effect"
import { agentNamedIn, type Sender } from "../handlers/agentCalls.ts"
import { parseJson } from "../request/RequestBody.ts"
import { logFieldsOf } from "../response/FailureLog.ts"
import { type CoreError, failureOfCause } from "../response/failures.ts"
import { type AgentAnswer, statusOf } from "./answerText.ts"
import type { FrontServices } from "./FrontServices.ts"
import { beginSpan, endSpan, METHOD, type SpanRequest } from "./requestSpan.ts"

/** A whole request of an agent. */
export interface AgentRequest extends SpanRequest {
  readonly body: Uint8Array
  readonly sender: Sender
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
