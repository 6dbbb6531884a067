import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { AgentKey } from "../api/Authentication.ts"
import { requestAddress } from "../request/clientAddress.ts"
import { AgentIntake } from "../request/Intake.ts"
import { readJson } from "../request/RequestBody.ts"
import { toApiError } from "../response/toApiError.ts"
import { agentCalls, agentNamedIn } from "./agentCalls.ts"

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
                Effect.annotateLogs(
                  toApiError(calls.heartbeat({ key, address: addressOf(request) }, body)),
                  agentNamedIn(body),
                ),
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
                Effect.annotateLogs(
                  toApiError(calls.events({ key, address: addressOf(request) }, body)),
                  agentNamedIn(body),
                ),
              ),
            )
          }),
        )
    }),
  )
}
