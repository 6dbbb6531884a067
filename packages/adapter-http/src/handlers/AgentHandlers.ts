import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import type { Arrival, Visit } from "@tocsin/core/heart/usecases/BodyBudget"
import { Effect, Predicate, Redacted, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { AgentKey } from "@tocsin/contract/api/operation"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { requestAddress } from "../request/clientAddress.ts"
import { AgentIntake } from "../request/Intake.ts"
import { announcedBytes, MAX_BODY_BYTES, readJson } from "../request/RequestBody.ts"
import { type CoreError, toApiError } from "../response/failures.ts"
import { FailedAuthentications } from "../request/authentication.ts"
import { RequestId } from "../response/headerFields.ts"
import {
  decodeEnrolRequest,
  decodeEventBatchRequest,
  decodeExpectationsRequest,
  decodeHeartbeatRequest,
} from "@tocsin/contract/v1/decodeRequest"
import type { EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import { type AgentId, isAgentId } from "@tocsin/contract/formats/Identifiers"
import { isProcessId, PROCESS_FIELD } from "@tocsin/contract/v1/processField"

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

/**
 * Takes bodies in if their senders may send them and there is room, and makes calls with them.
 * Endpoints of agents read their bodies themselves, because the order and the wording of their
 * checks are our own (docs/decisions/0004). `trustedHops` is how many proxies stand before the
 * server.
 */
const makeTaking = Effect.fnUntraced(function* (trustedHops: number) {
  const addressOf = requestAddress(trustedHops)
  const intake = yield* AgentIntake
  return Effect.fnUntraced(function* <Reply, E extends CoreError, E2 extends CoreError>(
    request: HttpServerRequest.HttpServerRequest,
    enter: (arrival: Arrival) => Effect.Effect<Visit, E2>,
    call: (sender: Sender, body: unknown) => Effect.Effect<Reply, E>,
  ) {
    const process = processOf(request.headers)
    const sender = { key: yield* AgentKey, address: addressOf(request), process }
    let length = 0
    const read = readJson(request, (part) => (length += part))
    const answer = Effect.flatMap(read, (body) =>
      Effect.annotateLogs(toApiError(call(sender, body)), agentNamedIn(body)),
    )
    const bytes = announcedBytes(request)
    // No more than the largest body is ever read.
    const stated =
      request.headers["content-length"] === undefined ? undefined : Math.min(bytes, MAX_BODY_BYTES)
    return yield* Effect.acquireUseRelease(
      toApiError(enter({ ...sender, bytes: stated })),
      () => intake.within(request, { bytes, sender: Redacted.value(sender.key) }, answer),
      ({ leave }) => Effect.sync(() => leave(length)),
    )
  })
})

const entrances = ({ bodies }: Ingest["Service"]) => ({
  enterHeartbeat: (arrival: Arrival) => bodies.enterHeartbeat(arrival),
  enterEvents: (arrival: Arrival) => bodies.enterEvents(arrival),
})

export const v1 = (trustedHops: number) =>
  HttpApiBuilder.group(
    TocsinApi,
    "agents",
    Effect.fnUntraced(function* (handlers) {
      const ingest = yield* Ingest
      const { events, heartbeat } = agentCalls(ingest)
      const { enterEvents, enterHeartbeat } = entrances(ingest)
      const taking = yield* makeTaking(trustedHops)
      return handlers
        .handleRaw("heartbeat", ({ request }) => taking(request, enterHeartbeat, heartbeat))
        .handleRaw("events", ({ request }) => taking(request, enterEvents, events))
    }),
  )

/** The agents' endpoints of /ops/v1. A token that is not valid counts as a failed authentication. */
export const ops = (trustedHops: number) =>
  HttpApiBuilder.group(
    OpsApi,
    "agents",
    Effect.fnUntraced(function* (handlers) {
      const ingest = yield* Ingest
      const { enterEvents, enterHeartbeat } = entrances(ingest)
      const { noteToken } = yield* FailedAuthentications
      const taking = yield* makeTaking(trustedHops)
      return handlers
        .handleRaw("declareExpectations", ({ params, request }) =>
          taking(request, enterEvents, expectationsCall(ingest)(params.agent_id)),
        )
        .handleRaw("enrol", ({ params, request }) =>
          taking(
            request,
            enterHeartbeat,
            Effect.fnUntraced(function* (sender: Sender, body: unknown) {
              const acting = { ...libraryOperator(), via: "api", request_id: yield* RequestId } as const
              return yield* enrolCall(ingest)(params.agent_id)(sender, body).pipe(
                Effect.provideService(CurrentOperator, acting),
                Effect.tapErrorTag("NotFound", () =>
                  Effect.provideService(noteToken, HttpServerRequest.HttpServerRequest, request),
                ),
              )
            }),
          ),
        )
    }),
  )
