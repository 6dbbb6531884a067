import * as Instant from "@tocsin/core/contract/Instant"
import { CurrentInstruments } from "@tocsin/core/engine/metrics/Instruments"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Ids } from "@tocsin/core/ports/Ids"
import { Clock, Effect, type Fiber, LogLevel, type Scope } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { type AgentCalls, agentCalls } from "../handlers/agentCalls.ts"
import { RequestMeter, type RouteMeter } from "../metrics/RequestMeter.ts"
import { Readiness } from "../Readiness.ts"
import { AgentIntake, type Intake } from "../request/Intake.ts"
import { FailureLog } from "../response/FailureLog.ts"
import { inboundRequestId } from "../RequestId.ts"
import { senders } from "./senders.ts"
import type { RequestHead, SenderOf } from "./usualRequest.ts"

/** What all requests of a server need. */
export interface Surroundings {
  readonly calls: AgentCalls
  readonly bodies: Ingest["Service"]["bodies"]
  readonly meters: Readonly<Record<keyof AgentCalls, RouteMeter>>
  readonly intake: Intake
  readonly failureLog: FailureLog
  readonly isDraining: () => boolean
  readonly clock: Clock.Clock
  readonly now: () => Instant.Instant
  /** Whether each request leaves a line in the log. */
  readonly isLogged: boolean
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** What is still at work when it closes is interrupted. */
  readonly scope: Scope.Scope
  readonly senderOf: SenderOf
  /** The id that a client gave its request, or a new one. */
  readonly requestIdOf: (head: Pick<RequestHead, "headers">) => string
}

/** Gathers what the requests of a server need from the services that it runs on. */
export const surroundings = Effect.fnUntraced(function* (options: ApiOptions) {
  const ids = yield* Ids
  const clock = yield* Clock.Clock
  const { isDraining } = yield* Readiness
  const ingest = yield* Ingest
  const now = () => Instant.fromNanos(clock.currentTimeNanosUnsafe())
  const newRequestId = () => ids.uuidV7(now())
  const meter = new RequestMeter(yield* CurrentInstruments)
  const gathered: Surroundings = {
    calls: agentCalls(ingest),
    bodies: ingest.bodies,
    intake: yield* AgentIntake,
    failureLog: yield* FailureLog,
    isDraining,
    clock,
    now,
    meters: {
      heartbeat: meter.of("/api/v1/heartbeat", "POST"),
      events: meter.of("/api/v1/events", "POST"),
    },
    isLogged: yield* LogLevel.isEnabled("Debug"),
    run: Effect.runForkWith(yield* Effect.context()),
    scope: yield* Effect.scope,
    senderOf: senders(options),
    requestIdOf: ({ headers }) => inboundRequestId(headers["x-request-id"]?.toString()) ?? newRequestId(),
  }
  return gathered
})
