import type { IncomingMessage, ServerResponse } from "node:http"
import * as Instant from "@tocsin/core/contract/Instant"
import { Ids } from "@tocsin/core/ports/Ids"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Clock, Effect, LogLevel, Tracer } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { agentCalls } from "../handlers/agentCalls.ts"
import { Readiness } from "../Readiness.ts"
import { AgentIntake } from "../request/Intake.ts"
import { inboundRequestId } from "../RequestId.ts"
import { AgentRequest, type Surroundings } from "./AgentRequest.ts"
import { senders } from "./senders.ts"
import { usualRequest } from "./usualRequest.ts"

/** Takes a request of node:http, or leaves it alone and returns `false`. */
export type Listener = (message: IncomingMessage, response: ServerResponse) => boolean

const leaveAlone: Listener = () => false

/**
 * Takes usual requests of agents straight from node:http, past the router and the layers of the API: a fraction of the cost
 * for what nearly all requests are (docs/decisions/0005). It applies the API's own rules, and leaves what is unusual to the
 * API. With a tracer it leaves everything, because the API makes the spans.
 */
export const make = Effect.fnUntraced(function* (options: ApiOptions) {
  if ((yield* Tracer.Tracer) !== Tracer.nativeTracer) return leaveAlone
  const ids = yield* Ids
  const clock = yield* Clock.Clock
  const { isDraining } = yield* Readiness
  const senderOf = senders(options)
  const surroundings: Surroundings = {
    calls: agentCalls(yield* Ingest),
    intake: yield* AgentIntake,
    isDraining,
    clock,
    isLogged: yield* LogLevel.isEnabled("Debug"),
    run: Effect.runForkWith(yield* Effect.context()),
    scope: yield* Effect.scope,
  }
  const newRequestId = () => ids.uuidV7(Instant.fromNanos(clock.currentTimeNanosUnsafe()))
  const listener: Listener = (message, response) => {
    const usual = usualRequest(message, senderOf)
    if (usual === undefined) return false
    const inbound = message.headers["x-request-id"]
    const requestId = inboundRequestId(inbound?.toString()) ?? newRequestId()
    new AgentRequest(surroundings, response, usual, requestId).begin()
    return true
  }
  return listener
})
