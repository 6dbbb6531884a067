import { Ingest } from "@tocsin/core/usecases/Ingest"
import type { Arrival, Visit } from "@tocsin/core/admission/BodyBudget"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { AgentKey } from "../api/Authentication.ts"
import { requestAddress } from "../request/clientAddress.ts"
import { AgentIntake } from "../request/Intake.ts"
import { announcedBytes, MAX_BODY_BYTES, readJson } from "../request/RequestBody.ts"
import { type CoreError, toApiError } from "../response/failures.ts"
import { agentCalls, agentNamedIn, type Sender } from "./agentCalls.ts"

// No more than the largest body is ever read.
const arrivalOf = (request: HttpServerRequest.HttpServerRequest, sender: Sender): Arrival => ({
  ...sender,
  bytes: Math.min(announcedBytes(request), MAX_BODY_BYTES),
})

/**
 * The agents' endpoints. They read their bodies themselves, because the order and the wording of
 * their checks are our own (docs/decisions/0004). `trustedHops` is how many proxies stand before
 * the server.
 */
export const layer = (trustedHops: number) => {
  const addressOf = requestAddress(trustedHops)
  return HttpApiBuilder.group(
    TocsinApi,
    "agents",
    Effect.fnUntraced(function* (handlers) {
      const ingest = yield* Ingest
      const calls = agentCalls(ingest)
      const { bodies } = ingest
      const intake = yield* AgentIntake
      /**
       * Takes a body in if its sender may send it and there is room, and makes the call with it.
       */
      const taking = <Reply, E extends CoreError, E2 extends CoreError>(
        enter: (arrival: Arrival) => Effect.Effect<Visit, E2>,
        call: (sender: Sender, body: unknown) => Effect.Effect<Reply, E>,
      ) =>
        Effect.fnUntraced(function* ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) {
          const sender = { key: yield* AgentKey, address: addressOf(request) }
          const answer = Effect.flatMap(readJson(request), (body) =>
            Effect.annotateLogs(toApiError(call(sender, body)), agentNamedIn(body)),
          )
          return yield* Effect.acquireUseRelease(
            toApiError(enter(arrivalOf(request, sender))),
            () => intake.within(request, answer),
            ({ leave }) => Effect.sync(leave),
          )
        })
      return handlers
        .handleRaw(
          "heartbeat",
          taking((arrival) => bodies.enterHeartbeat(arrival), calls.heartbeat),
        )
        .handleRaw(
          "events",
          taking((arrival) => bodies.enterEvents(arrival), calls.events),
        )
    }),
  )
}
