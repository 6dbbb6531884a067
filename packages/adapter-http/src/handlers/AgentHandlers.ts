import { Ingest } from "@tocsin/core/usecases/Ingest"
import type { Arrival, Visit } from "@tocsin/core/admission/BodyAdmission"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { AgentKey } from "../api/Authentication.ts"
import { requestAddress } from "../request/clientAddress.ts"
import { AgentIntake } from "../request/Intake.ts"
import { announcedBytes, MAX_BODY_BYTES, readJson } from "../request/RequestBody.ts"
import { type CoreError, toApiError } from "../response/toApiError.ts"
import { agentCalls, agentNamedIn, type Sender } from "./agentCalls.ts"

// No more than the largest body is ever read.
const arrivalOf = (request: HttpServerRequest.HttpServerRequest, sender: Sender): Arrival => ({
  ...sender,
  bytes: Math.min(announcedBytes(request), MAX_BODY_BYTES),
})

/** Runs the effect of a request whose body may be read, until the visit ends. */
const during = <A, E, R, E2 extends CoreError>(
  visit: Effect.Effect<Visit, E2>,
  effect: Effect.Effect<A, E, R>,
) =>
  Effect.acquireUseRelease(
    toApiError(visit),
    () => effect,
    ({ leave }) => Effect.sync(leave),
  )

/**
 * The agents' endpoints. They take their bodies raw, because the order and the wording of their checks are our own
 * (docs/decisions/0004). `trustedHops` is how many proxies stand before the server.
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
      return handlers
        .handleRaw(
          "heartbeat",
          Effect.fnUntraced(function* ({ request }) {
            const sender = { key: yield* AgentKey, address: addressOf(request) }
            return yield* during(
              bodies.enterHeartbeat(arrivalOf(request, sender)),
              intake.within(
                request,
                Effect.flatMap(readJson(request), (body) =>
                  Effect.annotateLogs(toApiError(calls.heartbeat(sender, body)), agentNamedIn(body)),
                ),
              ),
            )
          }),
        )
        .handleRaw(
          "events",
          Effect.fnUntraced(function* ({ request }) {
            const sender = { key: yield* AgentKey, address: addressOf(request) }
            return yield* during(
              bodies.enterEvents(arrivalOf(request, sender)),
              intake.within(
                request,
                Effect.flatMap(readJson(request), (body) =>
                  Effect.annotateLogs(toApiError(calls.events(sender, body)), agentNamedIn(body)),
                ),
              ),
            )
          }),
        )
    }),
  )
}
