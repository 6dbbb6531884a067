import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Effect, Option, type Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { AgentKey } from "../api/Authentication.ts"
import { clientAddress } from "../request/clientAddress.ts"
import { AgentIntake } from "../request/Intake.ts"
import { readJson } from "../request/RequestBody.ts"
import { toApiError } from "../response/toApiError.ts"
import { agentCalls, type Sender } from "./agentCalls.ts"

/**
 * The agents' endpoints. They take their bodies raw, because the order and the wording of their checks are our own
 * (docs/decisions/0004). `trustedHops` is how many proxies stand before the server.
 */
export const layer = (trustedHops: number) => {
  const senderOf = (
    { headers, remoteAddress }: HttpServerRequest.HttpServerRequest,
    key: Redacted.Redacted,
  ): Sender => {
    const origin = { peer: Option.getOrUndefined(remoteAddress), forwardedFor: headers["x-forwarded-for"] }
    return { key, address: clientAddress(origin, trustedHops) }
  }
  return HttpApiBuilder.group(
    TocsinApi,
    "agents",
    Effect.fnUntraced(function* (handlers) {
      const calls = agentCalls(yield* Ingest)
      const intake = yield* AgentIntake
      return handlers
        .handleRaw(
          "heartbeat",
          Effect.fnUntraced(function* ({ request }) {
            const key = yield* AgentKey
            return yield* intake.within(
              request,
              Effect.flatMap(readJson(request), (body) =>
                toApiError(calls.heartbeat(senderOf(request, key), body)),
              ),
            )
          }),
        )
        .handleRaw(
          "events",
          Effect.fnUntraced(function* ({ request }) {
            const key = yield* AgentKey
            return yield* intake.within(
              request,
              Effect.flatMap(readJson(request), (body) =>
                toApiError(calls.events(senderOf(request, key), body)),
              ),
            )
          }),
        )
    }),
  )
}
