import { AgentKey } from "@tocsin/contract/api/operation"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Watches } from "@tocsin/core/features/watches/Watches"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { isSame } from "../../documents/StaticContent.ts"
import { toApiError } from "../../response/failures.ts"

/** Answers the questions of agents that are places (docs/rules.md#places). */
export const placeWatches = HttpApiBuilder.group(
  OpsApi,
  "placeWatches",
  Effect.fnUntraced(function* (handlers) {
    const { askedBy } = yield* Watches
    return handlers.handleRaw(
      "askWatches",
      Effect.fnUntraced(function* ({ params, query, request }) {
        const withValues = query.secrets === "true"
        const asked = { agent_id: params.agent_id, withValues }
        const { items, tag } = yield* toApiError(askedBy(yield* AgentKey, asked))
        const headers = { etag: `"${tag}"`, "cache-control": "no-store" }
        if (isSame(request.headers["if-none-match"], headers.etag))
          return HttpServerResponse.empty({ status: 304, headers })
        return HttpServerResponse.jsonUnsafe({ items }, { headers })
      }),
    )
  }),
)
