import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import type { Arrival, Visit } from "@tocsin/core/heart/usecases/BodyBudget"
import { Effect, Redacted } from "effect"
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
  agentCalls,
  agentNamedIn,
  enrolCall,
  expectationsCall,
  processOf,
  type Sender,
} from "./agentCalls.ts"

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
