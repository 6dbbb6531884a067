import {
  decodeEnrolRequest,
  decodeEventBatchRequest,
  decodeExpectationsRequest,
  decodeHeartbeatRequest,
} from "@tocsin/contract/decodeRequest"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { Ingest } from "@tocsin/core/usecases/Ingest"
import { type AgentId, isAgentId } from "@tocsin/contract/Identifiers"
import { Effect, Predicate, type Redacted, Result } from "effect"

/** The sender of an agent's request. */
export interface Sender {
  readonly key: Redacted.Redacted
  /** The address whose registrations are limited (docs/rules.md#rate-limits). */
  readonly address: string | undefined
}

type Service = Ingest["Service"]

/** A request whose body is JSON: decoded, then handed to its use case. */
type Call<UseCase extends (...of: never) => Effect.Effect<unknown, unknown>> = (
  sender: Sender,
  body: unknown,
) => Effect.Effect<Effect.Success<ReturnType<UseCase>>, ValidationError | Effect.Error<ReturnType<UseCase>>>

/** The agents' requests by their endpoints' names. */
export interface AgentCalls {
  readonly heartbeat: Call<Service["heartbeat"]>
  readonly events: Call<Service["events"]>
}

/** The agents' requests, for the front and the API. */
export const agentCalls = (ingest: Service): AgentCalls => ({
  heartbeat: ({ key, address }, body) => {
    const decoded = decodeHeartbeatRequest(body)
    return Result.isSuccess(decoded)
      ? ingest.heartbeat(key, decoded.success, address)
      : Effect.fail(decoded.failure)
  },
  events: ({ key }, body) => {
    const decoded = decodeEventBatchRequest(body)
    return Result.isSuccess(decoded) ? ingest.events(key, decoded.success) : Effect.fail(decoded.failure)
  },
})

/** The call that declares expected checks: of /ops/v1, so the front does not answer it. */
export const expectationsCall =
  (ingest: Service) =>
  ({ key }: Pick<Sender, "key">, agentId: AgentId, body: unknown) => {
    const decoded = decodeExpectationsRequest(body)
    return Result.isSuccess(decoded)
      ? ingest.expectations(key, { agent_id: agentId, request: decoded.success })
      : Effect.fail(decoded.failure)
  }

/** The call that enrols an agent, likewise of /ops/v1. */
export const enrolCall =
  (ingest: Service) =>
  ({ key }: Pick<Sender, "key">, agentId: AgentId, body: unknown) =>
    Effect.flatMap(Effect.fromResult(decodeEnrolRequest(body)), ({ token }) =>
      ingest.enrol(key, { agent_id: agentId, token }),
    )

/** The agent that a body names, as a field of log lines; none where it names no valid one. */
export const agentNamedIn = (body: unknown): { readonly agent_id?: string } =>
  Predicate.hasProperty(body, "agent_id") && isAgentId(body.agent_id) ? { agent_id: body.agent_id } : {}
