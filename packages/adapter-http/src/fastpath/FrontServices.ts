import * as Instant from "@tocsin/contract/Instant"
import { Hashing } from "@tocsin/core/ports/Hashing"
import { Ids } from "@tocsin/core/ports/Ids"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Clock, type Context, Effect, Tracer } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { type AgentCalls, agentCalls } from "../handlers/agentCalls.ts"
import { Readiness } from "@tocsin/core/health/Readiness"
import * as Access from "../request/access.ts"
import { AgentIntake, type Intake } from "../request/Intake.ts"
import * as AnswerRecorder from "../response/AnswerRecorder.ts"

/** The services and limits that requests of the front need. */
export interface FrontServices {
  readonly access: Access.Access
  readonly trustedHops: number
  readonly calls: AgentCalls
  readonly bodies: Ingest["Service"]["bodies"]
  readonly recorders: Readonly<Record<keyof AgentCalls, AnswerRecorder.RouteRecorder>>
  readonly intake: Intake
  readonly isDraining: () => boolean
  /** Makes the spans of requests, if they are exported. */
  readonly tracer: Tracer.Tracer | undefined
  readonly clock: Clock.Clock
  readonly now: () => Instant.Instant
  readonly newRequestId: () => string
  readonly context: Context.Context<never>
}

/** Gathers the services that a server runs on. */
export const frontServices = Effect.fnUntraced(function* ({ trustedHops = 0, ...tokens }: ApiOptions) {
  const ids = yield* Ids
  const clock = yield* Clock.Clock
  const { isDraining } = yield* Readiness
  const ingest = yield* Ingest
  const tracer = yield* Tracer.Tracer
  const recorder = yield* AnswerRecorder.make
  const now = () => Instant.fromNanos(clock.currentTimeNanosUnsafe())
  const services: FrontServices = {
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
    tracer: tracer === Tracer.nativeTracer ? undefined : tracer,
    clock,
    now,
    newRequestId: () => ids.uuidV7(now()),
    context: yield* Effect.context<never>(),
  }
  return services
})
