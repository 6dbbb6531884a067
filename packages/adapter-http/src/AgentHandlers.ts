import { decodeEventBatchRequest, decodeHeartbeatRequest } from "@tocsin/core/contract/decodeRequest"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "./api.ts"
import { AgentKey } from "./api/Authentication.ts"
import { readJson } from "./RequestBody.ts"
import { toApiError } from "./toApiError.ts"

export const layer = HttpApiBuilder.group(
  TocsinApi,
  "agents",
  Effect.fnUntraced(function* (handlers) {
    const ingest = yield* Ingest
    return handlers
      .handleRaw(
        "heartbeat",
        Effect.fnUntraced(function* ({ request }) {
          const key = yield* AgentKey
          const body = yield* readJson(request)
          const heartbeat = yield* toApiError(Effect.fromResult(decodeHeartbeatRequest(body)))
          return yield* toApiError(ingest.heartbeat(key, heartbeat))
        }),
      )
      .handleRaw(
        "events",
        Effect.fnUntraced(function* ({ request }) {
          const key = yield* AgentKey
          const body = yield* readJson(request)
          const batch = yield* toApiError(Effect.fromResult(decodeEventBatchRequest(body)))
          return yield* toApiError(ingest.events(key, batch))
        }),
      )
  }),
)
