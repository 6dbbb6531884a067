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

export interface Sender {
  readonly key: Redacted.Redacted
  /** The address whose registrations are limited (docs/rules.md#rate-limits). */
  readonly address: string | undefined
}

type Service = Ingest["Service"]

/** A call with a body that is JSON: decoded, then handed to its use case. */
const decoding =
  <Request, Reply, E>(
    decode: (body: unknown) => Result.Result<Request, ValidationError>,
    useCase: (sender: Sender, request: Request) => Effect.Effect<Reply, E>,
  ) =>
  (sender: Sender, body: unknown): Effect.Effect<Reply, E | ValidationError> => {
    const decoded = decode(body)
    return Result.isSuccess(decoded) ? useCase(sender, decoded.success) : Effect.fail(decoded.failure)
  }

/** The agents' requests of /api/v1 by their endpoints' names, for the front and the API. */
export const agentCalls = (ingest: Service) => ({
  heartbeat: decoding(decodeHeartbeatRequest, ({ key, address }, request) =>
    ingest.heartbeat(key, request, address),
  ),
  events: decoding(decodeEventBatchRequest, ({ key }, batch) => ingest.events(key, batch)),
})

/** The requests about one agent: of /ops/v1, so the front does not answer them. */
export const expectationsCall = (ingest: Service) => (agent_id: AgentId) =>
  decoding(decodeExpectationsRequest, ({ key }, request) => ingest.expectations(key, { agent_id, request }))

export const enrolCall = (ingest: Service) => (agent_id: AgentId) =>
  decoding(decodeEnrolRequest, ({ key }, { token }) => ingest.enrol(key, { agent_id, token }))

/** The agent that a body names, as a field of log lines; none where it names no valid one. */
export const agentNamedIn = (body: unknown): { readonly agent_id?: string } =>
  Predicate.hasProperty(body, "agent_id") && isAgentId(body.agent_id) ? { agent_id: body.agent_id } : {}
