import {
  decodeEnrolRequest,
  decodeEventBatchRequest,
  decodeExpectationsRequest,
  decodeHeartbeatRequest,
} from "@tocsin/contract/v1/decodeRequest"
import type { EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { type AgentId, isAgentId } from "@tocsin/contract/formats/Identifiers"
import { isProcessId, PROCESS_FIELD } from "@tocsin/contract/v1/processField"
import { Effect, Predicate, type Redacted, Result } from "effect"

export interface Sender {
  readonly key: Redacted.Redacted
  /** The address whose registrations are limited (docs/rules.md#rate-limits). */
  readonly address: string | undefined
  /** The ID of the agent's process (docs/rules.md#two-agents-with-one-key). */
  readonly process?: string | undefined
}

/** The ID of an agent's process, by the header fields of a request. One of another form is none. */
export const processOf = ({
  [PROCESS_FIELD]: id,
}: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>): string | undefined =>
  typeof id === "string" && isProcessId(id) ? id : undefined

type Service = Ingest["Service"]

/** A call with a body that is JSON: decoded, noted, then handed to its use case. */
const decoding =
  <Request, Reply, E>(
    decode: (body: unknown) => Result.Result<Request, ValidationError>,
    useCase: (sender: Sender, request: Request) => Effect.Effect<Reply, E>,
  ) =>
  (
    sender: Sender,
    body: unknown,
    note?: (request: Request) => void,
  ): Effect.Effect<Reply, E | ValidationError> => {
    const decoded = decode(body)
    if (Result.isFailure(decoded)) return Effect.fail(decoded.failure)
    note?.(decoded.success)
    return useCase(sender, decoded.success)
  }

/** A heartbeat that is decoded already. */
export const heartbeatCall =
  (ingest: Service) =>
  ({ address, key, process }: Sender, request: HeartbeatRequest) =>
    ingest.heartbeat(key, request, { address, process })

/** A batch that is decoded already. */
export const eventsCall =
  (ingest: Service) =>
  ({ key }: Sender, batch: EventBatchRequest) =>
    ingest.events(key, batch)

/** The agents' requests of /api/v1 by their endpoints' names, for the front and the API. */
export const agentCalls = (ingest: Service) => ({
  heartbeat: decoding(decodeHeartbeatRequest, heartbeatCall(ingest)),
  events: decoding(decodeEventBatchRequest, eventsCall(ingest)),
})

/** The requests about one agent: of /ops/v1, so the front does not answer them. */
export const expectationsCall = (ingest: Service) => (agent_id: AgentId) =>
  decoding(decodeExpectationsRequest, ({ key }, request) => ingest.expectations(key, { agent_id, request }))

export const enrolCall = (ingest: Service) => (agent_id: AgentId) =>
  decoding(decodeEnrolRequest, ({ key }, { token }) => ingest.enrol(key, { agent_id, token }))

/** The agent that a body names, as a field of log lines; none where it names no valid one. */
export const agentNamedIn = (body: unknown): { readonly agent_id?: string } =>
  Predicate.hasProperty(body, "agent_id") && isAgentId(body.agent_id) ? { agent_id: body.agent_id } : {}
