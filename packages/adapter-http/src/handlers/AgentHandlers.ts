import {
  decodeEventBatchRequest,
  decodeHeartbeatRequest,
  hotRequestSchemas,
} from "@tocsin/core/contract/decodeRequest"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SchemaJITCompiler } from "effect/schema"
import { TocsinApi } from "../api.ts"
import { AgentKey } from "../api/Authentication.ts"
import { clientAddress } from "../request/clientAddress.ts"
import { readJson } from "../request/RequestBody.ts"
import { toApiError } from "../response/toApiError.ts"

/**
 * The agents' endpoints. They take their bodies raw, because the order and the wording of their checks are our own
 * (docs/decisions/0004). `trustedHops` is how many proxies stand before the server.
 */
export const layer = (trustedHops: number) =>
  HttpApiBuilder.group(
    TocsinApi,
    "agents",
    Effect.fnUntraced(function* (handlers) {
      const ingest = yield* Ingest
      // Before the first decode, or it has no effect. Events decode in a third of the time with it.
      for (const schema of hotRequestSchemas) SchemaJITCompiler.enable(schema.ast)

      return handlers
        .handleRaw(
          "heartbeat",
          Effect.fnUntraced(function* ({ request }) {
            const key = yield* AgentKey
            const decoded = decodeHeartbeatRequest(yield* readJson(request))
            return yield* toApiError(
              Effect.flatMap(Effect.fromResult(decoded), (heartbeat) =>
                ingest.heartbeat(key, heartbeat, clientAddress(request, trustedHops)),
              ),
            )
          }),
        )
        .handleRaw(
          "events",
          Effect.fnUntraced(function* ({ request }) {
            const key = yield* AgentKey
            const decoded = decodeEventBatchRequest(yield* readJson(request))
            return yield* toApiError(
              Effect.flatMap(Effect.fromResult(decoded), (batch) => ingest.events(key, batch)),
            )
          }),
        )
    }),
  )
